# SPDX-License-Identifier: Apache-2.0
# A byte order mark in front.
a = 1
