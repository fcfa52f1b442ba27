/* SPDX-License-Identifier: Apache-2.0
 * A figure as one HTML page: the drawing, and a script that shows under the pointer both coordinates of a
 * cell and outlines it in every grid. The script has the layout's iters, not a table, so that the page stays
 * small. */
#include "view/view_svg.h"

static const char script[] =
    "const M=JSON.parse(document.getElementById('model').textContent);\n"
    "const "
    "svg=document.querySelector('svg'),tip=document.getElementById('tip'),out=document.getElementById('out');"
    "\n"
    "const size=M.shape.reduce((a,b)=>a*b,1);\n"
    "function xor(a){const z=M.swizzle;if(!z)return a;const mask=(1<<z.length)-1,x=Math.floor(a/2**z.per);\n"
    " const src=z.outer?x:Math.floor(x/2**z.atom),bits=src%(mask+1),to=z.outer?z.per+z.atom:z.per;\n"
    " let r=a;for(let i=0;i<z.length;i++)if(bits>>i&1){const w=2**(to+i);r+=Math.floor(a/w)%2?-w:w;}return "
    "r;}\n"
    "function coordinate(e){const c=[];for(let d=M.shape.length-1;d>=0;d--){c.unshift(e%M.shape[d]);"
    "e=Math.floor(e/M.shape[d]);}return c;}\n"
    "function places(e){const p=M.origin.slice();for(let "
    "i=M.iters.length-1;i>=0;i--){const[n,s,a]=M.iters[i];\n"
    " p[a]+=e%n*s;e=Math.floor(e/n);}\n"
    " let all=[p];for(const[n,s,a]of M.copies){const next=[];for(const q of all)for(let k=0;k<n;k++){"
    "const r=q.slice();r[a]+=k*s;next.push(r);}all=next;}\n"
    " if(M.m>=0)for(const q of all)q[M.m]=xor(q[M.m]);return all;}\n"
    "function cell(p){const L=M.place;let row=0;for(const[s,low,span]of L.rows)row=row*span+p[s]-low;\n"
    " let "
    "col=L.column<0?0:p[L.column]-L.low;if(L.wraps){row=Math.floor(col/"
    "L.span);col%=L.span;}return[row,col];}\n"
    "const held=new Map();\n"
    "for(let e=0;e<size;e++)for(const p of places(e)){const[r,c]=cell(p),k=r*M.columns+c;"
    "if(!held.has(k))held.set(k,[e,p]);}\n"
    "function words(e,p){return'('+coordinate(e).join(', ')+') \\u2192 '+M.axes.map((a,i)=>a+' "
    "'+p[i]).join(', ');}\n"
    /* the element and place at a cell of a grid: 0 logical, 1 physical */
    "function at(grid,row,col){if(grid===0){const e=row*M.logical+col;return e<size?[e,places(e)[0]]:null;}\n"
    " return held.get(row*M.columns+col)||null;}\n"
    "function mark(e){svg.querySelectorAll('.hit').forEach(n=>n.remove());if(e===null)return;\n"
    " const cells=[[0,Math.floor(e/M.logical),e%M.logical]];for(const p of "
    "places(e))cells.push([1,...cell(p)]);\n"
    " for(const a of M.areas)for(const[g,r,c]of cells)if(a.grid===g&&r<a.rows&&c<a.columns){\n"
    "  const n=document.createElementNS('http://www.w3.org/2000/svg','rect');n.setAttribute('class','hit');\n"
    "  n.setAttribute('x',a.x+c*a.w-1);n.setAttribute('y',a.y+r*a.h-1);n.setAttribute('width',a.w+2);"
    "n.setAttribute('height',a.h+2);svg.appendChild(n);}}\n"
    "function move(x,y,px,py){for(const a of M.areas){const "
    "c=Math.floor((x-a.x)/a.w),r=Math.floor((y-a.y)/a.h);\n"
    " if(c<0||r<0||c>=a.columns||r>=a.rows)continue;const hit=at(a.grid,r,c);\n"
    " const text=hit?words(hit[0],hit[1]):'empty: no element is at this place';\n"
    " mark(hit?hit[0]:null);tip.textContent=text;out.textContent=text;tip.style.display='block';\n"
    " tip.style.left=px+14+'px';tip.style.top=py+14+'px';return;}\n"
    " mark(null);tip.style.display='none';}\n"
    "svg.addEventListener('mousemove',v=>{const b=svg.getBoundingClientRect();"
    "move(v.clientX-b.left,v.clientY-b.top,v.pageX,v.pageY);});\n"
    "svg.addEventListener('mouseleave',()=>{mark(null);tip.style.display='none';});\n";

static void decimal(base_builder *out, const char *name, int64_t hundredths) {
    base_builder_format(out, "\"%s\":%lld.%02lld", name, (long long)(hundredths / 100),
                        (long long)(hundredths % 100));
}

static uint32_t slot_of(const layout_map *map, layout_axis axis) {
    uint32_t slot = 0;
    while (map->axes[slot] != axis)
        slot++;
    return slot;
}

static void iters(const layout_map *map, const char *name, const layout_iter *list, uint32_t count,
                  base_builder *out) {
    base_builder_format(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++)
        base_builder_format(out, "%s[%lld,%lld,%u]", i > 0 ? "," : "", (long long)list[i].extent,
                            (long long)list[i].stride, (unsigned)slot_of(map, list[i].axis));
    base_builder_char(out, ']');
}

static void numbers(const char *name, const int64_t *list, uint32_t count, base_builder *out) {
    base_builder_format(out, "\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++)
        base_builder_format(out, i > 0 ? ",%lld" : "%lld", (long long)list[i]);
    base_builder_char(out, ']');
}

/* What the pointer's text calls an axis. */
static void axis_names(const view_figure *f, base_builder *out) {
    const layout_map *map = f->map;
    base_builder_string(out, ",\"axes\":[");
    for (uint32_t s = 0; s < map->axis_count; s++) {
        const char *name = layout_axis_name(map->axes[s]);
        if (f->fragment)
            name = s == f->placement.column_slot ? f->physical.column_name
                   : f->placement.row_count == 1 ? f->physical.row_name
                                                 : name;
        base_builder_format(out, "%s\"%s\"", s > 0 ? "," : "", name);
    }
    base_builder_char(out, ']');
}

static void model(const view_figure *f, const view_drawing *d, base_builder *out) {
    const layout_map *map = f->map;
    const layout_tile *layout = map->layout;
    const view_placement *p = &f->placement;
    base_builder_char(out, '{');
    numbers("shape", map->shape, map->rank, out);
    base_builder_char(out, ',');
    numbers("origin", map->origin, map->axis_count, out);
    axis_names(f, out);
    iters(map, "iters", layout->shard, layout->shard_count, out);
    iters(map, "copies", layout->replica, layout->replica_count, out);
    if (layout->swizzle.present)
        base_builder_format(out, ",\"swizzle\":{\"per\":%u,\"length\":%u,\"atom\":%u,\"outer\":%s}",
                            (unsigned)layout->swizzle.per_element, (unsigned)layout->swizzle.length,
                            (unsigned)layout->swizzle.atom, layout->swizzle.outer ? "true" : "false");
    base_builder_format(out,
                        ",\"m\":%d,\"logical\":%lld,\"columns\":%lld,\"place\":{\"column\":%d,\"low\":%lld,"
                        "\"span\":%lld,\"wraps\":%s,\"rows\":[",
                        map->m_slot < map->axis_count ? (int)map->m_slot : -1, (long long)f->logical.columns,
                        (long long)f->physical.columns,
                        p->column_slot < map->axis_count ? (int)p->column_slot : -1, (long long)p->column_low,
                        (long long)p->column_span, p->wraps ? "true" : "false");
    for (uint32_t i = 0; i < p->row_count; i++)
        base_builder_format(out, "%s[%u,%lld,%lld]", i > 0 ? "," : "", (unsigned)p->rows[i].slot,
                            (long long)p->rows[i].low, (long long)p->rows[i].span);
    base_builder_string(out, "]},\"areas\":[");
    bool first = true;
    for (int i = 0; i < 4; i++) {
        const view_area *a = &d->areas[i];
        if (a->rows == 0)
            continue;
        base_builder_format(out, "%s{\"grid\":%d,\"x\":%d,\"y\":%d,\"rows\":%lld,\"columns\":%lld,",
                            first ? "" : ",", i % 2, a->x, a->y, (long long)a->rows, (long long)a->columns);
        decimal(out, "w", a->text ? a->cell_width / 100 * 100 : a->cell_width);
        base_builder_char(out, ',');
        decimal(out, "h", a->cell_height);
        base_builder_char(out, '}');
        first = false;
    }
    base_builder_string(out, "]}");
}

void view_html(const view_figure *f, base_builder *out) {
    view_drawing drawing;
    base_builder_string(
        out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
             "<meta name=\"color-scheme\" content=\"light dark\">"
             "<meta name=\"viewport\" content=\"width=device-width\"><title>tirc layout</title>\n<style>\n"
             "body{margin:0;background:#fff;color:#1b1f24}svg{display:block}"
             "#tip{position:absolute;display:none;pointer-events:none;padding:4px 8px;border-radius:4px;"
             "background:#1b1f24;color:#fff;font:13px ui-monospace,Menlo,Consolas,monospace;"
             "white-space:nowrap}"
             "#out{position:sticky;bottom:0;padding:4px 20px;min-height:18px;background:#f6f8fa;"
             "font:13px ui-monospace,Menlo,Consolas,monospace}"
             ".hit{fill:none;stroke:#cf222e;stroke-width:2.5;pointer-events:none}\n");
    view_svg_style(out);
    base_builder_string(out, "@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}"
                             "#tip{background:#e6edf3;color:#0d1117}#out{background:#161b22}"
                             ".hit{stroke:#ff7b72}}\n</style></head><body>\n");
    view_svg_draw(f, &drawing, false, out);
    base_builder_string(out, "<div id=\"out\">point at a cell</div><div id=\"tip\"></div>\n"
                             "<script type=\"application/json\" id=\"model\">");
    model(f, &drawing, out);
    base_builder_format(out, "</script>\n<script>\n%s</script></body></html>\n", script);
}
