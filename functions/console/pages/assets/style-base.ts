/** Colours, type and the frame of every page. Text on its ground has a contrast of 4.5 or more in both schemes. */
export const STYLE_BASE = `
:root{color-scheme:light dark;
--page:#f5f6f8;--card:#fff;--ink:#1a1f26;--soft:#56606c;--line:#d6dbe2;--faint:#eef1f5;--link:#0a54ab;
--accent:#0a54ab;--on-accent:#fff;--spent:#2b6ea6;--track:#e2e7ed;--mark:#1a1f26;
--eat0:#1d4e79;--eat1:#2b6ea6;--eat2:#b3611b;--eat3:#5f8a3a;--eat4:#7b5ba6;--eat5:#8a6d1d;--eat-rest:#a9b3bf;
--good:#17663a;--good-ground:#e7f4ec;--warn:#7d4a00;--warn-ground:#fff3dc;--bad:#a8211a;--bad-ground:#fdebe9}
@media(prefers-color-scheme:dark){:root{
--page:#0f1317;--card:#161b21;--ink:#e3e7ec;--soft:#9ca7b3;--line:#2e3741;--faint:#1e252d;--link:#85b8ff;
--accent:#85b8ff;--on-accent:#0b1420;--spent:#5b9bd5;--track:#2a323c;--mark:#e3e7ec;
--eat0:#9cc6f0;--eat1:#5b9bd5;--eat2:#e08f4a;--eat3:#8fbf66;--eat4:#b196dc;--eat5:#d1b25c;--eat-rest:#5b6672;
--good:#7fd2a0;--good-ground:#16291e;--warn:#f0b95b;--warn-ground:#2d2414;--bad:#ff9d94;--bad-ground:#341a18}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:14px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:break-word}
h1,h2,h3{line-height:1.25;margin:0;font-weight:650;text-wrap:balance}
h1{font-size:1.5rem;letter-spacing:-.01em;overflow-wrap:anywhere}h2{font-size:1.05rem}h3{font-size:.95rem}
p{margin:.5rem 0;max-width:70ch}
ul,ol{margin:.5rem 0;padding-left:1.25rem}
a{color:var(--link);text-underline-offset:.15em;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:3px}
code,pre,.id{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--faint);border:1px solid var(--line);border-radius:6px;padding:.75rem;margin:.5rem 0}
small,.soft{color:var(--soft)}small{font-size:.86rem}
.skip{position:absolute;left:-100vw;top:0;background:var(--card);padding:.5rem 1rem;z-index:2}
.skip:focus{left:.5rem}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.patterns{position:absolute;width:0;height:0}
.top{background:var(--card);border-bottom:1px solid var(--line)}
.top>div{max-width:1240px;margin:auto;padding:.5rem 1rem;display:flex;flex-wrap:wrap;align-items:center;gap:.35rem 1.25rem}
.brand{font-weight:700;font-size:1rem;color:var(--ink);text-decoration:none;display:inline-flex;align-items:center;gap:.45rem}
.brand svg{width:18px;height:18px;fill:none;stroke:var(--accent);stroke-width:2.4;stroke-linecap:round}
.top nav{flex:1 1 auto}
.top nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:0 1.1rem;margin:0;padding:0}
.top nav a{display:block;padding:.3rem 0;color:var(--soft);text-decoration:none;border-bottom:2px solid transparent;white-space:nowrap}
.top nav a:hover{color:var(--ink)}
.top nav a[aria-current]{color:var(--ink);border-bottom-color:var(--accent)}
.who{display:flex;align-items:center;gap:.75rem}
.who form{margin:0}
main{max-width:1240px;margin:0 auto;padding:1.25rem 1rem 3rem;outline:0}
footer{max-width:1240px;margin:auto;padding:0 1rem 2rem;color:var(--soft);font-size:.86rem}
.crumbs{font-size:.9rem;color:var(--soft);margin:0 0 .35rem}
.crumbs ol{list-style:none;display:flex;flex-wrap:wrap;gap:.1rem .4rem;margin:0;padding:0}
.crumbs li+li::before{content:"/";margin-right:.4rem;color:var(--soft)}
.head{display:flex;flex-wrap:wrap;align-items:flex-end;justify-content:space-between;gap:.75rem 1.5rem;margin-bottom:1rem}
.head p{margin:.25rem 0 0;color:var(--soft)}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}
.card{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:1rem;margin:0 0 1rem;min-width:0}
.card>:last-child{margin-bottom:0}.card>p:first-child,.card>ul:first-child{margin-top:0}
.card>h2{margin:0 0 .6rem;display:flex;flex-wrap:wrap;justify-content:space-between;gap:.25rem 1rem;align-items:baseline}
.card>h2 small{font-weight:400}
.two{display:grid;gap:0 1rem;grid-template-columns:minmax(0,1fr)}
@media(min-width:900px){.two{grid-template-columns:repeat(2,minmax(0,1fr))}}
.note{border:1px solid var(--line);border-left-width:4px;border-radius:6px;padding:.6rem .85rem;margin:0 0 1rem;background:var(--card)}
.note>:first-child{margin-top:0}.note>:last-child{margin-bottom:0}
.note.good{border-left-color:var(--good);background:var(--good-ground)}
.note.warn{border-left-color:var(--warn);background:var(--warn-ground)}
.note.bad{border-left-color:var(--bad);background:var(--bad-ground)}
dialog{background:var(--card);color:var(--ink);border:1px solid var(--line);border-radius:8px;padding:1rem;max-width:calc(100vw - 2rem)}dialog::backdrop{background:#0008}dialog .filters{margin:0}dialog .filters input[type=text]{width:min(22rem,70vw)}
@media print{.top,footer,.actions,form{display:none}body{background:#fff}.card{break-inside:avoid;border-color:#999}}
`;
