import { createHash } from 'node:crypto';
import { Hono } from 'hono';

/** Colours, type and the frame of every page. Text on its ground has a contrast of 4.5 or more in both schemes. */
const STYLES = `
:root{color-scheme:light dark;
--page:#f5f6f8;--card:#fff;--ink:#1a1f26;--soft:#56606c;--line:#d6dbe2;--faint:#eef1f5;--link:#0a54ab;
--accent:#0a54ab;--on-accent:#fff;--spent:#2b6ea6;--track:#e2e7ed;--mark:#1a1f26;
--good:#17663a;--good-ground:#e7f4ec;--warn:#7d4a00;--warn-ground:#fff3dc;--bad:#a8211a;--bad-ground:#fdebe9}
@media(prefers-color-scheme:dark){:root{
--page:#0f1317;--card:#161b21;--ink:#e3e7ec;--soft:#9ca7b3;--line:#2e3741;--faint:#1e252d;--link:#85b8ff;
--accent:#85b8ff;--on-accent:#0b1420;--spent:#5b9bd5;--track:#2a323c;--mark:#e3e7ec;
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
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}
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
.scroll{overflow-x:auto;margin:0 -1rem;padding:0 1rem}
.scroll:focus-visible{outline-offset:-2px}
table{border-collapse:collapse;width:100%}
caption{text-align:left;color:var(--soft);padding:0 0 .4rem}
th,td{padding:.42rem .75rem .42rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
tbody tr:last-child>*{border-bottom:0}
thead th{font-size:.82rem;font-weight:600;color:var(--soft);vertical-align:bottom;white-space:nowrap}
tbody th{font-weight:500}
tbody tr:hover{background:color-mix(in srgb,var(--faint) 60%,transparent)}
.n{text-align:right;white-space:nowrap}
.when{white-space:nowrap}
.path{overflow-wrap:anywhere}
tbody th small{display:block}.path small a{white-space:nowrap}
@media(min-width:720px){.job{min-width:20rem}}
tbody+tbody{border-top:1px solid var(--line)}
td.bar-cell{width:22%;min-width:9rem}td .bar{margin:.28rem 0}
.ro{white-space:nowrap}
.bar{display:block;width:100%;height:12px;border-radius:3px;overflow:hidden;background:var(--track)}
.bar .spent,.key .spent{fill:var(--spent)}
.bar .over,.key .over{fill:var(--bad)}
.bar .mark{fill:var(--mark)}
.bar .edge{fill:var(--card)}
.held-line{stroke:var(--spent)}
.held-ground{fill:var(--track)}.held-over{stroke:var(--bad)}
.key{display:flex;flex-wrap:wrap;gap:.25rem 1.1rem;color:var(--soft);font-size:.86rem;margin:.4rem 0;padding:0;list-style:none}
.key svg{width:22px;height:11px;vertical-align:-1px;margin-right:.35rem;border-radius:2px;background:var(--track)}
.tag{display:inline-block;font-size:.8rem;line-height:1.3;padding:.06rem .42rem;border-radius:4px;border:1px solid var(--line);color:var(--soft);background:var(--faint);white-space:nowrap;font-weight:500}
.tag.good{color:var(--good);background:var(--good-ground);border-color:transparent}
.tag.warn{color:var(--warn);background:var(--warn-ground);border-color:transparent}
.tag.bad{color:var(--bad);background:var(--bad-ground);border-color:transparent}
.count{font-size:.8rem;padding:0 .4rem;border-radius:9px;color:var(--warn);background:var(--warn-ground);font-weight:600}
.bad-text{color:var(--bad)}.warn-text{color:var(--warn)}.good-text{color:var(--good)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr));gap:.75rem 1.25rem;margin:0 0 .75rem}
.figures div{min-width:0}
.figures dt{color:var(--soft);font-size:.86rem}
.figures dd{margin:0;font-size:1.2rem;font-weight:600;line-height:1.3}
.figures dd small{display:block;font-weight:400;font-size:.84rem}
dl.facts{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.2rem 1rem;margin:.25rem 0}
dl.facts div{display:contents}dl.facts dt{color:var(--soft)}dl.facts dd{margin:0;overflow-wrap:anywhere}
.chart{display:block;width:100%;height:auto;margin:.25rem 0}
.chart text{font-size:12px;fill:var(--soft)}
.chart .grid{stroke:var(--line)}.chart .limit{stroke:var(--bad);stroke-width:1.5;stroke-dasharray:6 3}
.chart .limit-text{fill:var(--bad)}
.chart .area{fill:var(--spent);opacity:.16}.chart .line{fill:none;stroke:var(--spent);stroke-width:2.2;stroke-linejoin:round}
.chart .ahead{fill:none;stroke:var(--spent);stroke-width:1.8;stroke-dasharray:2 5;stroke-linecap:round}
.chart .dot{fill:var(--card);stroke:var(--mark);stroke-width:2}
.chart.for-narrow{display:none}.chart.sample{display:inline-block;width:22px;height:11px;margin:0 .35rem 0 0;background:none;vertical-align:-1px}
.chart .dot-text{fill:var(--ink);font-weight:600}
form{margin:0}
label,legend{font-weight:550}
fieldset{border:1px solid var(--line);border-radius:6px;margin:0 0 .9rem;padding:.6rem .85rem}
.field{margin:0 0 .9rem;max-width:34rem}
.field small{display:block;margin-top:.2rem}.field label small{display:inline;font-weight:400;margin-left:.25rem}
input,select,textarea,button,.button{font:inherit;color:inherit;border-radius:6px;border:1px solid color-mix(in srgb,var(--soft) 65%,var(--line));background:var(--card);padding:.36rem .6rem;min-height:2.15rem}
input[type=checkbox],input[type=radio]{min-height:0;width:1.05rem;height:1.05rem;accent-color:var(--accent);vertical-align:-.15rem;margin:0 .4rem 0 0}
input[type=file]{padding:.3rem;max-width:100%}
.field input:not([type=checkbox]):not([type=radio]),.field select,.field textarea{display:block;width:100%;margin-top:.2rem}
.field input.short{max-width:12rem}
textarea{min-height:4.2rem;resize:vertical}
[aria-invalid=true]{border-color:var(--bad)!important;box-shadow:0 0 0 1px var(--bad)}
.problem{color:var(--bad);display:block;margin-top:.2rem}
.check{font-weight:400;display:block;margin:.3rem 0}
button,.button{cursor:pointer;background:var(--card);font-weight:550;text-decoration:none;display:inline-flex;align-items:center;white-space:nowrap}
button:hover,.button:hover{border-color:var(--ink)}
button.main,.button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
button.main:hover,.button.main:hover{filter:brightness(1.08)}
button.danger{color:var(--bad);border-color:var(--bad)}
button.plain{border:0;background:none;padding:.2rem 0;min-height:0;color:var(--link);text-decoration:underline;text-underline-offset:.15em;font-weight:400}
button[aria-busy=true]{opacity:.6;cursor:progress}
.filters{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:end;margin:0 0 .85rem}
.filters label{font-size:.86rem;font-weight:500;color:var(--soft)}
.filters input[type=search],.filters input[type=text],.filters input[type=date],.filters select{display:block;margin-top:.1rem}
.filters input[type=date]{padding-block:.26rem}
.filters input[type=search]{width:min(22rem,80vw)}.filters input[type=search][name=group]{width:min(16rem,80vw)}
.filters .check{color:var(--ink);padding:.45rem 0;margin:0}
.tabs{margin:0 0 1rem;border-bottom:1px solid var(--line)}
.tabs ul{list-style:none;display:flex;flex-wrap:wrap;gap:0 1.25rem;margin:0;padding:0}
.tabs a{display:block;padding:.35rem 0;margin-bottom:-1px;color:var(--soft);text-decoration:none;border-bottom:2px solid transparent}
.tabs a:hover{color:var(--ink)}.tabs a[aria-current]{color:var(--ink);font-weight:600;border-bottom-color:var(--accent)}
.pages{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between;margin-top:.75rem}
.from{color:var(--soft);text-decoration:line-through;text-decoration-thickness:1px}
.timeline{list-style:none;margin:0;padding:0}
.timeline>li{padding:.55rem 0;border-bottom:1px solid var(--line)}
.timeline>li:first-child{padding-top:0}.timeline>li:last-child{border-bottom:0;padding-bottom:0}
.timeline p{margin:.15rem 0}
.scroll+h3,ul+h3{margin-top:.9rem}
.field>p{margin:0 0 .9rem}
fieldset>legend+p{margin-top:0}
details>summary{cursor:pointer;color:var(--link)}
@media(max-width:719px){.wide,.chart.for-wide{display:none}.chart.for-narrow{display:block}main{padding-top:.9rem}h1{font-size:1.28rem}
.stack,.stack tbody,.stack tbody th,.stack tbody td{display:block}
.stack thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.stack tbody tr{display:flex;flex-wrap:wrap;justify-content:space-between;gap:.1rem 1rem;padding:.55rem 0;border-bottom:1px solid var(--line)}
.stack tbody tr:last-child{border-bottom:0}
.stack tbody tr>*{border:0;padding:0;text-align:left;white-space:normal}
.stack tbody tr>th,.stack tbody td.bar-cell,.stack tbody td.full{flex:1 0 100%;width:auto}
.stack tbody td.bar-cell:empty,.stack tbody td:empty,.stack tbody tr>.wide{display:none}
.stack td[data-l]::before{content:attr(data-l) " ";color:var(--soft)}
.scroll{margin:0 -.75rem;padding:0 .75rem}.card{padding:.75rem}
input,select,textarea,button,.button{min-height:2.5rem}.when,.ro,button,.button{white-space:normal}.top>div{gap:.2rem 1rem}.who{margin-left:auto}.top nav{order:3;flex:1 1 100%;min-width:0}
.top nav ul{gap:0 1rem}}
`;

/**
 * All the script there is; every page reads and works without it. A form that is on its way cannot be sent again by a
 * second click, lists sort as soon as something is chosen, `/` goes to the search, Ctrl-K to anywhere, and jobs are counted by themselves.
 */
const SCRIPT = `'use strict';
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.method !== 'post') return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = 'yes';
  if (event.submitter) event.submitter.setAttribute('aria-busy', 'true');
});
addEventListener('pageshow', () => {
  for (const form of document.forms) {
    delete form.dataset.sent;
    for (const button of form.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
  }
});
document.addEventListener('change', (event) => {
  if (event.target.matches('form[data-at-once] select, form[data-at-once] [type=checkbox]')) event.target.form.requestSubmit();
});
document.addEventListener('keydown', (event) => {
  const isHeld = event.ctrlKey || event.metaKey;
  const search = document.querySelector('main input[type=search]');
  const go = document.getElementById('go');
  if (event.altKey) return;
  if (event.key === '/' && !isHeld && search !== null && !event.target.matches('input, textarea, select')) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === 'k' && isHeld && !event.shiftKey && go !== null && !go.open) {
    event.preventDefault();
    go.showModal();
    go.querySelector('input').select();
  }
});
const uncounted = document.querySelector('[data-count]');
if (uncounted !== null) {
  const form = document.getElementById(uncounted.dataset.count);
  const live = uncounted.querySelector('[aria-live]');
  const count = async () => {
    const body = new URLSearchParams(new FormData(form));
    body.set('step', 'count');
    const answer = await fetch(form.action, { method: 'POST', body });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    const counted = page.querySelector('#exact:not([data-count]) > [aria-live]');
    if (counted === null) return;
    live.replaceChildren(...counted.childNodes);
    if (live.querySelector('[name=cursor]') !== null) await count();
  };
  uncounted.setAttribute('aria-busy', 'true');
  count().catch(() => {}).finally(() => uncounted.removeAttribute('aria-busy'));
}
`;

/** Named by its content, so that a deploy never meets an older one in a cache. */
function asset(name: string, type: string, body: string) {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return { href: `/assets/${hash}/${name}`, body, type };
}

const STYLE = asset('console.css', 'text/css; charset=utf-8', STYLES.replaceAll('\n', ''));
const PROGRAM = asset('console.js', 'text/javascript; charset=utf-8', SCRIPT);

const ICON = asset(
  'icon.svg',
  'image/svg+xml',
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 18 18"><rect width="18" height="18" rx="4" fill="#0a54ab"/><path d="M4 15V3.5M4 7h11M9.5 7v3M13.5 7v3" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/></svg>',
);

export const ICON_HREF = ICON.href;
export const STYLE_HREF = STYLE.href;
export const SCRIPT_HREF = PROGRAM.href;

const FAVICON_PATH = '/favicon.ico';
const DAY = 'public, max-age=86400';
const YEAR = 'public, max-age=31536000, immutable';

/** `GET /assets/<hash>/console.css`, `.js` and the icon. They contain no data, so they need no sign-in. */
export function createAssets(): Hono {
  const app = new Hono();
  for (const { href, body, type } of [STYLE, PROGRAM, ICON]) {
    app.get(href, (c) => c.body(body, 200, { 'content-type': type, 'cache-control': YEAR }));
  }
  app.get(FAVICON_PATH, (c) => c.body(ICON.body, 200, { 'content-type': ICON.type, 'cache-control': DAY }));
  return app;
}
