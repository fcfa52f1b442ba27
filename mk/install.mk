# SPDX-License-Identifier: Apache-2.0
# make install: binary, static and shared library, header, pkg-config file, man page. DESTDIR and PREFIX as usual.
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include \
	    $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 755 $(BUILD)/tirc $(DESTDIR)$(PREFIX)/bin/tirc
	install -m 644 $(BUILD)/libtirc.a $(DESTDIR)$(PREFIX)/lib/libtirc.a
	install -m 755 $(BUILD)/libtirc.so $(DESTDIR)$(PREFIX)/lib/libtirc.so.$(VERSION)
	ln -sf libtirc.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libtirc.so.0
	ln -sf libtirc.so.0 $(DESTDIR)$(PREFIX)/lib/libtirc.so
	install -m 644 include/tirc.h $(DESTDIR)$(PREFIX)/include/tirc.h
	install -m 644 docs/tirc.1 $(DESTDIR)$(PREFIX)/share/man/man1/tirc.1
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' tools/tirc.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/tirc.pc
