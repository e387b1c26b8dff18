/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

/* MESSAGE_ID= of what is worth an explanation: systemd/memsec.catalog has one for each. */

#define MESSAGE_ATTACHED     "47547da4787c431fa5b32ead2e1d6a34"
#define MESSAGE_REPLACED     "4f23a72581d54567b763782d68591b23"
#define MESSAGE_TAKEN_OVER   "a17393182b244e0fbbf6b3358b9bfd8d"
#define MESSAGE_DETACHED     "dfdb6a091ecc4898a1dd119440a1234d"
#define MESSAGE_FUSED        "bc90834835174ef3920017e550a0aae9"
#define MESSAGE_NOT_ATTACHED "8aad58d0c918445596cc762c4702cdde"
#define MESSAGE_HELD         "a6ee3ccc09a54c65953a41fdcbc123a9"
#define MESSAGE_RELOADED     "5929821b84654244acdd4e99537da0db"
#define MESSAGE_INVALID_FILE "cfb3e1cfd82747c5b175594dabca908e"
#define MESSAGE_SET          "2a24ec10e77e4c3d9cefaa3551c03747"
#define MESSAGE_UNSUPPORTED  "8281b9956cf14876aad366a35893d233"
#define MESSAGE_UNITS_FULL   "49163295665b4252ae7ba5cfff9422fd"
#define MESSAGE_TUNED        "d7a795ca52ac4e9dacfa8839207c57cc"
#define MESSAGE_TUNE_LIMIT   "d9d3e8f189ef4dfab589de77960d32ef"
#define MESSAGE_TUNE_STOPPED "3062c39d64d04846bfc957cc57aaee8f"
#define MESSAGE_TUNE_BY_HAND "851cb63c07444323b26bdf037604c060"
