/** Follows the reader's light or dark; below 40 rem each row of the table becomes a card. */
export const SHADOW_STYLE = `
:root { color-scheme: light dark; --ink: #1d2228; --dim: #5c6670; --line: #d8dde2; --page: #ffffff; --mark: #b3401f; --link: #0b5cad; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --dim: #9aa5b0; --line: #343b43; --page: #14181c; --mark: #ff9a76; --link: #7ab8ff; }
}
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; }
.span, .dim, time { color: var(--dim); }
.span { margin: .25rem 0 1.25rem; }
.verdict { font-size: 1.25rem; font-weight: 600; color: var(--mark); margin: 0 0 .5rem; }
p { margin: .4rem 0; max-width: 60rem; }
a { color: var(--link); }
.wide { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--dim); font-weight: 500; white-space: nowrap; }
td { overflow-wrap: anywhere; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
details { border-bottom: 1px solid var(--line); padding: .5rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
ul { list-style: none; margin: .5rem 0; padding: 0 0 0 1rem; }
li { padding: .2rem 0; overflow-wrap: anywhere; }
time { font-variant-numeric: tabular-nums; margin-right: .5rem; white-space: nowrap; }
code { font-size: .9em; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: .6rem 0; border-bottom: 1px solid var(--line); }
  td, td.n { display: flex; justify-content: space-between; gap: 1rem; text-align: right; padding: .1rem 0; border: 0; white-space: normal; }
  td::before { content: attr(data-label); color: var(--dim); text-align: left; white-space: nowrap; }
}
`;
