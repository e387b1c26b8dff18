# SPDX-License-Identifier: GPL-2.0-only
#
# What systemd, D-Bus and polkit read: unit, user, messages, bus policy, interfaces, action.

.PHONY: install-systemd

install-systemd:
	$(Q)$(INSTALL) -d $(DESTDIR)$(systemunitdir) $(DESTDIR)$(sysusersdir) $(DESTDIR)$(catalogdir) \
		$(DESTDIR)$(datadir)/dbus-1/system.d $(DESTDIR)$(datadir)/dbus-1/system-services \
		$(DESTDIR)$(datadir)/dbus-1/interfaces $(DESTDIR)$(datadir)/polkit-1/actions
	$(Q)$(INSTALL_DATA) systemd/memsecd.service systemd/memsecd-metrics.socket \
		systemd/memsecd-metrics@.service $(DESTDIR)$(systemunitdir)/
	$(Q)$(INSTALL_DATA) systemd/memsec.sysusers $(DESTDIR)$(sysusersdir)/memsec.conf
	$(Q)$(INSTALL_DATA) systemd/memsec.catalog $(DESTDIR)$(catalogdir)/
	$(Q)$(INSTALL_DATA) systemd/org.memsec1.conf $(DESTDIR)$(datadir)/dbus-1/system.d/
	$(Q)$(INSTALL_DATA) systemd/org.memsec1.service $(DESTDIR)$(datadir)/dbus-1/system-services/
	$(Q)$(INSTALL_DATA) systemd/org.memsec1.policy $(DESTDIR)$(datadir)/polkit-1/actions/
	$(Q)$(INSTALL_DATA) systemd/org.memsec1.*xml $(DESTDIR)$(datadir)/dbus-1/interfaces/
