/**
 * All the script there is; every page reads and works without it. A form that is on its way cannot be sent again by a
 * second click, lists sort as soon as something is chosen, `/` goes to the search, Ctrl-K to anywhere, and jobs are counted by themselves.
 */
export const SCRIPT = `'use strict';
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
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.matches('input, textarea, select')) return;
  const search = document.querySelector('input[type=search]');
  if (search === null) return;
  event.preventDefault();
  search.focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  const go = document.getElementById('go');
  if (go === null || go.open) return;
  event.preventDefault();
  go.showModal();
  go.querySelector('input').select();
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
