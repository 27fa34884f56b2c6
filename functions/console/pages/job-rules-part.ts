import { html } from 'hono/html';
import type { ExplainedRuleRow, ToldViolation } from '../../answers/job/model.ts';
import type { Markup } from './markup.ts';
import { counted, modeTag } from './told.ts';

/** What mattered, then or now; whatever had nothing to say about the job is folded away. */
export function rulesPart(rules: readonly ExplainedRuleRow[]): Markup {
  const mattered = rules.filter(saysSomething);
  const silent = rules.filter((rule) => !saysSomething(rule));
  return html`${
    mattered.length > 0
      ? ruleTable(mattered, 'Rules with something against it')
      : html`<p>No rule had anything against it, and none has now.</p>`
  }${
    silent.length > 0 &&
    html`<details><summary>${counted(silent.length, mattered.length > 0 ? 'other rule' : 'rule')} with nothing against it</summary>${ruleTable(silent, 'Rules with nothing against it')}</details>`
  }`;
}

const saysSomething = ({ atDecision, now }: ExplainedRuleRow): boolean =>
  atDecision.length > 0 ||
  (now !== undefined && (now.violations.length > 0 || now.outcome === 'missing' || now.outcome === 'failed'));

const ruleTable = (rules: readonly ExplainedRuleRow[], caption: string): Markup =>
  html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="stack"><caption class="hidden">${caption}, then and now</caption><thead><tr><th scope="col">Rule</th><th scope="col">Then</th><th scope="col">Now</th></tr></thead><tbody>${rules.map(
    ({ id, kind, mode, atDecision, now, whyNot }) =>
      html`<tr><th scope="row"><code>${id}</code><small class="soft">${kind} ${mode}</small></th><td class="full" data-l="Then:">${violations(atDecision)}</td><td class="full" data-l="Now:">${
        now === undefined
          ? html`<span class="soft">${whyNot ?? 'not asked again'}</span>`
          : now.violations.length > 0
            ? violations(now.violations)
            : html`<span class="soft">${NOW_WORDS[now.outcome]}${now.detail !== undefined && html`: ${now.detail}`}</span>`
      }</td></tr>`,
  )}</tbody></table></div>`;

const NOW_WORDS: Readonly<Record<NonNullable<ExplainedRuleRow['now']>['outcome'], string>> = {
  matched: 'nothing against it',
  'not matched': 'does not ask about this job',
  off: 'off',
  missing: 'cannot tell',
  exempt: 'exempt',
  failed: 'failed',
};

const violations = (all: readonly ToldViolation[]): Markup | Markup[] =>
  all.length === 0
    ? html`<span class="soft">nothing against it</span>`
    : all.map(({ code, text, mode }) => html`<div><code>${code}</code> ${modeTag(mode)} ${text}</div>`);
