import { entriesAt, entriesOf, entryOf, type Warning, type WrittenDocuments } from './warning.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Lists exemptions that end on a UTC day by default, while the deployment has another zone. */
export function daysOfOtherZone({ policyDocument, usageZone }: WrittenDocuments): readonly Warning[] {
  if (usageZone === 'UTC' || entryOf(policyDocument).zone !== undefined) return [];
  return entriesAt(policyDocument, 'rules').flatMap((rule, order) =>
    entriesOf(rule.exempt)
      .map(entryOf)
      .flatMap(({ until, zone, reason }, index): Warning[] => {
        if (zone !== undefined || typeof until !== 'string' || !DAY.test(until)) return [];
        return [
          {
            path: ['rules', order, 'exempt', index, 'until'],
            message: `the exemption "${String(reason)}" of rule ${String(rule.id)} ends with a day of UTC, while days of this deployment are those of ${usageZone}; say zone, here or once above the rules`,
          },
        ];
      }),
  );
}
