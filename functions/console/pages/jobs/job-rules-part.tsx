import type { DisclosedViolation, ExplainedRuleRow } from '../../../answers/job/model.ts';
import { Table } from '../parts/layout.tsx';
import type { Markup } from '../parts/markup.ts';
import { modeTag, pageCount } from '../parts/page-format.tsx';

/** Rules with a result, then or now; others are folded away. */
export function rulesPart(rules: readonly ExplainedRuleRow[]): Markup {
  const mattered = rules.filter(saysSomething);
  const silent = rules.filter((rule) => !saysSomething(rule));
  return (
    <>
      {mattered.length > 0 ? (
        ruleTable(mattered, 'Rules with something against it')
      ) : (
        <p>No rule had anything against it, and none has now.</p>
      )}
      {silent.length > 0 && (
        <details>
          <summary>
            {pageCount(silent.length, mattered.length > 0 ? 'other rule' : 'rule')} with nothing against it
          </summary>
          {ruleTable(silent, 'Rules with nothing against it')}
        </details>
      )}
    </>
  );
}

const saysSomething = ({ atDecision, now }: ExplainedRuleRow): boolean =>
  atDecision.length > 0 ||
  (now !== undefined && (now.violations.length > 0 || now.outcome === 'missing' || now.outcome === 'failed'));

const ruleTable = (rules: readonly ExplainedRuleRow[], caption: string): Markup => (
  <Table label={caption} caption={`${caption}, then and now`} columns={['Rule', 'Then', 'Now']}>
    <tbody>
      {rules.map(({ id, kind, mode, atDecision, now, whyNot }) => (
        <tr>
          <th scope="row">
            <code>{id}</code>
            <small class="soft">
              {kind} {mode}
            </small>
          </th>
          <td class="full" data-l="Then:">
            {violations(atDecision)}
          </td>
          <td class="full" data-l="Now:">
            {now === undefined ? (
              <span class="soft">{whyNot ?? 'not asked again'}</span>
            ) : now.violations.length > 0 ? (
              violations(now.violations)
            ) : (
              <span class="soft">
                {NOW_WORDS[now.outcome]}
                {now.detail !== undefined && <>: {now.detail}</>}
              </span>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </Table>
);

const NOW_WORDS: Readonly<Record<NonNullable<ExplainedRuleRow['now']>['outcome'], string>> = {
  matched: 'nothing against it',
  'not matched': 'does not ask about this job',
  off: 'off',
  missing: 'cannot tell',
  exempt: 'exempt',
  failed: 'failed',
};

const violations = (all: readonly DisclosedViolation[]): Markup | Markup[] =>
  all.length === 0 ? (
    <span class="soft">nothing against it</span>
  ) : (
    all.map(({ code, text, mode }) => (
      <div>
        <code>{code}</code> {modeTag(mode)} {text}
      </div>
    ))
  );
