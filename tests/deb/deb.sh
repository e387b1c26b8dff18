# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tests of packages in the VM need: source this. Packages are beside the test, $here; what it makes is in $work.

. "$(dirname "$0")/tap.sh"

export DEBIAN_FRONTEND=noninteractive
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The image goes without documentation; packages are to be installed whole.
rm -f /etc/dpkg/dpkg.cfg.d/*mmdebstrap*

# Makes the package DEB again as $work/VERSION.deb. It is changed by a command that gets the directory of its files.
repack() { # DEB VERSION COMMAND...
	local deb=$here/$1 version=$2 files=$work/$2

	shift 2
	dpkg-deb --raw-extract "$deb" "$files"
	sed -i "s/^Version: .*/Version: $version/" "$files/DEBIAN/control"
	"$@" "$files"
	dpkg-deb --root-owner-group -Znone --build "$files" "$work/$version.deb" >/dev/null
	rm -r "$files"
}

# What dpkg calls the state of the package.
status() { # PACKAGE
	dpkg-query --show --showformat='${db:Status-Abbrev}' "$1" 2>/dev/null
}
