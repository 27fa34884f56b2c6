import type { Child } from 'hono/jsx';
import type { SubjectView } from '../../../answers/groups/model.ts';
import type { LimitRow } from '../../../answers/status/model.ts';
import * as ui from '../parts/ui.ts';

export function limitsPart({ limits, limitsAbove, caps, may }: SubjectView): ui.Markup {
  const editLink = (limit: LimitRow): Child =>
    (may.tighten || may.loosen) && (
      <a href={ui.address('/edit', { kind: 'set', subject: limit.subject, limit: limit.id })}>
        Edit{ui.hidden(` ${ui.limitLabel(limit)}`)}
      </a>
    );
  return (
    <>
      {limits.length === 0 ? (
        <p>No limit is set here.</p>
      ) : (
        <ui.Table
          label="Limits"
          columns={{
            Kind: (limit) => (
              <>
                {ui.limitLabel(limit)} {ui.modeTag(limit.rolledOutAs ?? limit.mode)}
                {ui.soft(factsText(limit))}
              </>
            ),
            ...ui.limitColumns<LimitRow>({ limitOf: (limit) => limit, mayEdit: false }),
            [ui.DO]: editLink,
          }}
          rows={limits}
        />
      )}
      {caps.length > 0 && <h3>Caps per pipeline or user</h3>}
      <ui.List
        of={caps.map((limit) => (
          <>
            {ui.limitLabel(limit)}: {ui.limitAmountWords(limit)} {ui.modeTag(limit.rolledOutAs ?? limit.mode)}{' '}
            {ui.soft(factsText(limit))} {editLink(limit)}
          </>
        ))}
      />
      {limitsAbove.length > 0 && <h3>Limits above that also apply</h3>}
      <ui.List
        of={limitsAbove.map(({ label, left, amount, unit, periodLabel, contact }) => (
          <>
            {label}: {ui.pageAmount(left, unit)} left of {ui.pageAmount(amount, unit)}
            {periodLabel !== undefined && ` for ${periodLabel}`}
            {contact !== undefined && <>; contact {ui.contactLink(contact)}</>}
          </>
        ))}
      />
    </>
  );
}

function factsText(limit: LimitRow): ui.Markup[] {
  const { unit, granted, carried, softAmount, cohort, shared, fromMs, untilMs } = limit;
  const amount = (whole: number): string => ui.pageAmount(whole, unit);
  const last = ui.lastAlertOf(limit);
  const parts: Child[] = [
    <code>{limit.id}</code>,
    !limit.inForce && <strong>not in force</strong>,
    limit.period?.label,
    granted > 0 && `with ${amount(granted)} granted`,
    carried !== 0 && `${amount(carried)} carried over`,
    softAmount !== undefined && `warns from ${amount(softAmount)}`,
    shared && `cohort ${cohort}: ${amount(shared.used)} of ${amount(shared.amount)} lent in use`,
    limit.byDefault && 'default limit',
    limit.whenUnreachable && `${ui.OUTAGE_TEXTS[limit.whenUnreachable]} while the ledger is unavailable`,
    ui.alertsText(limit),
    last && <span class={last.state === 'failed' ? 'warn-text' : undefined}>{last.text}</span>,
    limit.owner && `owner ${limit.owner}`,
    fromMs !== undefined && ['from ', ui.edge(fromMs, 'start', limit)],
    untilMs !== undefined && ['until ', ui.edge(untilMs, 'end', limit)],
  ];
  return ui.joined(parts.filter(Boolean), ' · ');
}
