"""The look of the report: one style sheet, no fonts or scripts from elsewhere, light and dark."""

STYLE = """
:root{--bg:#fbfbfa;--card:#fff;--ink:#1d1f23;--soft:#62666d;--line:#e4e5e7;--good:#1a7f45;--good-bg:#e6f6ec;
--bad:#c62a2f;--bad-bg:#fdecec;--warn:#9a5b00;--warn-bg:#fff3dc;--accent:#3451b2;--ground:#f1f1ee;--edge:#1d1f23}
@media(prefers-color-scheme:dark){:root{--bg:#141518;--card:#1c1e22;--ink:#ececee;--soft:#a0a4ab;--line:#31343a;
--good:#5fd38d;--good-bg:#15301f;--bad:#ff8589;--bad-bg:#3a1a1c;--warn:#f2b544;--warn-bg:#33270f;--accent:#9db1ff;
--ground:#24262b;--edge:#ececee}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1120px;margin:0 auto;padding:36px 24px 80px}
h1{font-size:30px;line-height:1.2;margin:0;letter-spacing:-.01em}
h2{font-size:20px;margin:44px 0 14px;letter-spacing:-.005em}
h3{font-size:13px;margin:0 0 8px;color:var(--soft);font-weight:600;text-transform:uppercase;letter-spacing:.05em}
p{margin:6px 0}
.soft{color:var(--soft)}
header{display:flex;gap:20px;align-items:flex-start;justify-content:space-between}
header p{max-width:70ch;margin-top:8px;color:var(--soft)}
.tag{display:inline-block;border-radius:999px;padding:2px 10px;font-size:13px;font-weight:600;white-space:nowrap}
.tag.good{color:var(--good);background:var(--good-bg)}.tag.bad{color:var(--bad);background:var(--bad-bg)}
.tag.warn{color:var(--warn);background:var(--warn-bg)}
.tag.big{font-size:16px;padding:7px 18px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:12px;margin:26px 0 0}
.card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 16px}
.card b{display:block;font-size:17px;line-height:1.35;margin-top:2px}
.top{display:grid;grid-template-columns:minmax(0,1.1fr) minmax(0,1fr);gap:16px;margin-top:16px}
video{width:100%;border-radius:12px;border:1px solid var(--line);background:#000;display:block}
ol.plan{list-style:none;margin:0;padding:0}
ol.plan li{display:flex;gap:10px;padding:4px 0;border-bottom:1px solid var(--line)}
ol.plan li:last-child{border:0}
ol.plan .n{flex:0 0 22px;text-align:right;color:var(--soft)}
ol.plan .tag{margin-left:auto}h3.next{margin-top:18px}.top .card{max-height:620px;overflow:auto}
code{font:13.5px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.strip{display:grid;grid-template-columns:repeat(auto-fill,minmax(470px,1fr));gap:14px}
.turn{background:var(--card);border:1px solid var(--line);border-radius:12px;overflow:hidden}
.turn.bad{border-color:var(--bad)}.turn.warn{border-color:var(--warn)}
.turn .pair{display:grid;grid-template-columns:1fr 1fr;gap:2px;background:var(--line)}
.photo{aspect-ratio:4/3;background-size:cover;background-position:center}
.turn figcaption{padding:9px 12px 11px;display:flex;gap:8px;align-items:center;flex-wrap:wrap}
.turn figure{margin:0}.turn .tag{margin-left:auto}
.turn .label{color:var(--soft);font-size:13px;width:100%;line-height:1.2}
figure{margin:0}
blockquote{margin:0 0 18px;padding:14px 20px;background:var(--card);border:1px solid var(--line);
border-left:4px solid var(--accent);border-radius:4px 12px 12px 4px;font-size:16.5px;line-height:1.6}
blockquote footer{font-size:13px;color:var(--soft);margin-top:8px}
.graphs{display:grid;grid-template-columns:1fr 1fr;gap:14px}
.graphs svg{display:block;width:100%;height:auto}
svg .ground{fill:var(--ground)}svg .table{stroke:var(--soft);stroke-width:2}
svg .object{stroke:rgba(0,0,0,.45);stroke-width:1;fill-opacity:.93}
svg .object.wrong{stroke:var(--bad);stroke-width:3.5}
svg .ghost{fill:none;stroke:var(--bad);stroke-width:1.6;stroke-dasharray:5 4}
svg .way{stroke:var(--bad);stroke-width:1.4;stroke-dasharray:2 4;opacity:.8}
svg .edge{stroke:var(--edge);stroke-width:2.2}
svg .badge circle{fill:#fff;stroke:#1d1f23;stroke-width:1.4}svg .badge text{font:600 11.5px system-ui,sans-serif;
text-anchor:middle;fill:#1d1f23}
svg .badge.wrong circle{fill:#c62a2f;stroke:#fff}svg .badge.wrong text{fill:#fff}
table{border-collapse:collapse;width:100%;margin-top:16px}
th{font-size:13px;color:var(--soft);text-align:left;font-weight:600}
th,td{padding:6px 10px 6px 0;border-bottom:1px solid var(--line);vertical-align:middle}
td.num{font-variant-numeric:tabular-nums;text-align:right;width:60px}
.swatch{display:inline-block;width:13px;height:13px;border-radius:3px;border:1px solid rgba(0,0,0,.35);
margin-right:8px;vertical-align:-1px}
.bar{height:9px;border-radius:5px;background:var(--line);position:relative;min-width:110px}
.bar i{position:absolute;inset:0 auto 0 0;border-radius:5px;background:var(--good)}.bar.bad i{background:var(--bad)}
.bar u{position:absolute;top:-3px;bottom:-3px;width:2px;background:var(--ink)}
details{margin-top:40px}summary{cursor:pointer;color:var(--soft)}
pre{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px;overflow:auto;font-size:12.5px}
@media(max-width:760px){.strip{grid-template-columns:1fr}.top,.graphs{grid-template-columns:1fr}header{flex-direction:column}}
"""
