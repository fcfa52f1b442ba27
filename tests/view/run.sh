#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Pictures that tirc writes: the images in an SVG are decoded and compared with the map, and a pointer is moved over
# the HTML pages in headless Chromium; what it shows must be what tirc layout --table says.
set -u
cd "$(dirname "$0")/../.." || exit 2
tirc=$PWD/${TIRC_BUILD:-build/test}/tirc
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
number=0 bad=0
say() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then echo "ok $number - $2"; else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/log" 2>/dev/null | head -n 20
        bad=1
    fi
}
skip() {
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
python=$(command -v python3)

# Two elements have one colour on the left exactly when their cells have one on the right.
images() {
    "$python" - "$1" "$2" <<'PY' >"$work/log" 2>&1
import base64, json, re, struct, subprocess, sys, zlib
svg = open(sys.argv[1]).read()
table = [json.loads(line) for line in open(sys.argv[2])]
def decode(data):
    data = base64.b64decode(data)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, idat = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert zlib.crc32(kind + body) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0], kind
        if kind == b"IHDR": width, height = struct.unpack(">II", body[:8])
        if kind == b"IDAT": idat += body
        at += 12 + size
    raw = zlib.decompress(idat)
    assert len(raw) == height * (width + 1)
    return width, height, [raw[y * (width + 1) + 1:(y + 1) * (width + 1)] for y in range(height)]
found = [decode(m) for m in re.findall(r'base64,([^"]+)"', svg)]
assert len(found) == 4, len(found)
(lw, lh, logical), (pw, ph, physical) = found[0], found[2]
assert found[1][2] == logical and found[3][2] == physical  # both themes show one picture
rows, columns = table[-1]["at"][0] + 1, table[-1]["at"][1] + 1
prows = 128
pcolumns = max(e["place"]["TCol"] for e in table) + 1
assert lw % columns == 0 and lh % rows == 0 and pw % pcolumns == 0 and ph % prows == 0
seen = set()
for e in table:
    i, j = e["at"]; lane, col = e["place"]["TLane"], e["place"]["TCol"]
    a = logical[i * (lh // rows)][j * (lw // columns)]
    b = physical[lane * (ph // prows)][col * (pw // pcolumns)]
    assert a == b and a < 32, (e, a, b)
    seen.add((lane, col))
for lane in range(prows):
    for col in range(pcolumns):
        empty = physical[lane * (ph // prows)][col * (pw // pcolumns)] == 32
        assert empty == ((lane, col) not in seen), (lane, col)
PY
}
for case in 'S[(64,2,32):(1@TLane,64@TLane,1@TCol)] 64,64' 'S[(4,16,96):(32@TLane,1@TLane,1@TCol)] 64,96' \
    'S[(128,512):(1@TLane,1@TCol)] 128,512'; do
    set -- $case
    if [ -z "$python" ]; then skip "images of $1" "no python3"; continue; fi
    "$tirc" layout "$1" --shape "$2" --svg "$work/p.svg" --table --json >"$work/table" 2>"$work/log" &&
        images "$work/p.svg" "$work/table"
    say $? "images of $1 show the map"
done

# Moves the pointer to cells of every grid and collects what is shown.
hover() { # page; prints "grid row column<TAB>text" lines
    sed 's|</body>||; s|</html>||' "$1" >"$work/driven.html"
    cat >>"$work/driven.html" <<'JS'
<pre id="result"></pre><script>
const lines=[];const box=svg.getBoundingClientRect();
for(const a of M.areas){const rs=[...new Set([0,1,3,a.rows>>1,a.rows-1])],cs=[...new Set([0,1,5,a.columns>>1,a.columns-1])];
 for(const r of rs)for(const c of cs)if(r<a.rows&&c<a.columns){
  /* a pointer is on whole pixels; cells may be narrower than two */
  const x=Math.round(box.left+a.x+(c+.5)*a.w),y=Math.round(box.top+a.y+(r+.5)*a.h);
  svg.dispatchEvent(new MouseEvent('mousemove',{clientX:x,clientY:y,bubbles:true}));
  const row=Math.floor((y-box.top-a.y)/a.h),column=Math.floor((x-box.left-a.x)/a.w);
  if(row>=a.rows||column>=a.columns)continue;
  lines.push(a.grid+' '+row+' '+column+'\t'+tip.textContent+'\t'+tip.style.display+'\t'+svg.querySelectorAll('.hit').length);}}
svg.dispatchEvent(new MouseEvent('mouseleave'));
lines.push('left\t'+tip.style.display+'\t'+svg.querySelectorAll('.hit').length);
document.getElementById('result').textContent=lines.join('\n');</script></body></html>
JS
    timeout 90 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --dump-dom \
        "file://$work/driven.html" 2>"$work/browser" | sed -n '/<pre id="result">/,/<\/pre>/p' |
        sed 's|.*<pre id="result">||; s|</pre>.*||; s|&gt;|>|g'
}
# Logical cells against the table; physical cells the other way round.
compare() {
    "$python" - "$1" "$2" "$3" <<'PY' >"$work/log" 2>&1
import json, sys
width = int(sys.argv[3])
table = [json.loads(line) for line in open(sys.argv[2])]
text = {", ".join(map(str, e["at"])): ", ".join("%s %d" % kv for kv in e["place"].items()) for e in table}
checked = empty = 0
for line in open(sys.argv[1]):
    fields = line.rstrip("\n").split("\t")
    if fields[0] == "left":
        assert fields[1:] == ["none", "0"], fields
        continue
    grid, row, column = map(int, fields[0].split())
    assert fields[2] == "block", fields
    if fields[1].startswith("empty"):
        assert grid == 1 and fields[3] == "0", fields
        empty += 1
        continue
    coordinate, place = fields[1].split(" \u2192 ")
    assert sorted(text[coordinate.strip("()")].split(", ")) == sorted(place.split(", ")), fields
    assert int(fields[3]) >= 2, fields
    if grid == 0:
        flat = row * width + column
        assert ", ".join(map(str, table[flat]["at"])) == coordinate.strip("()"), fields
    elif len(table[0]["place"]) == 2:  # row axis and column axis are in the text
        values = {k: int(v) for k, v in (p.rsplit(" ", 1) for p in place.split(", "))}
        columns = ("m", "TCol", "register", "register slot", "TMEM column")
        assert column == [v for k, v in values.items() if k in columns][0], fields
        assert row == [v for k, v in values.items() if k not in columns][0], fields
    checked += 1
assert checked >= 20, checked
PY
}
# Renames the axes of a table, and makes one thread of warp and lane.
names() {
    "$python" - "$1" "$2" "$3" <<'PY' >"$work/log" 2>&1
import json, sys
names = dict(pair.replace(".", " ").split("=") for pair in sys.argv[2:])
rows = [json.loads(line) for line in open(sys.argv[1])]
for row in rows:
    place = row["place"]
    if "wid_in_wg" in place:
        place = {"thread": 32 * place["wid_in_wg"] + place["laneid"], "m": place["m"]}
    items = sorted(place.items(), key=lambda kv: kv[0] in ("m", "TCol"))  # the picture's rows first
    row["place"] = {names.get(k, k): v for k, v in items}
open(sys.argv[1], "w").write("".join(json.dumps(row) + "\n" for row in rows))
PY
}
for case in 'S[(4,4):(4,1)] 4,4 4' 'Z(3,3,3)*S[(128,64):(64,1)] 128,64 64' 'S[(128,512):(1@TLane,1@TCol)] 128,512 512' \
    'S[(8,4,2):(4@laneid,1@laneid,1)] 8,8 8' 'Z(0,2,3,outer)*S[(16,8):(9,1)]+5 16,8 8' 'S[(6,6):(1,-7)]+40 6,6 6'; do
    set -- $case
    if [ -z "$browser" ] || [ -z "$python" ]; then skip "hover over $1" "no Chromium or no python3"; continue; fi
    "$tirc" layout "$1" --shape "$2" --html "$work/page.html" --table --json >"$work/table" 2>"$work/log" &&
        hover "$work/page.html" >"$work/shown" && compare "$work/shown" "$work/table" "$3"
    say $? "hover over $1 shows both coordinates"
done
# Fragments: the table is that of the fragment's layout, its axes in the words of the picture.
for case in 'tcgen05.ld.16x128b.x4 16,16 16 laneid=thread m=register' 'wgmma.m64n32 64,32 32 thread=thread.of.warpgroup m=register.slot' \
    'tcgen05.mma.F.n16 64,16 16 TLane=TMEM.lane TCol=TMEM.column'; do
    set -- $case
    if [ -z "$browser" ] || [ -z "$python" ]; then skip "hover over $1" "no Chromium or no python3"; continue; fi
    "$tirc" fragment "$1" --html "$work/page.html" >"$work/log" 2>&1 && hover "$work/page.html" >"$work/shown" &&
        "$tirc" layout "$("$tirc" fragment "$1" --layout)" --shape "$2" --table --json >"$work/table" 2>>"$work/log" &&
        names "$work/table" "$4" "$5" && compare "$work/shown" "$work/table" "$3"
    say $? "hover over $1 shows both coordinates"
done
echo "1..$number"
exit $bad
