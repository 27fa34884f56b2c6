import type { LimitSet, RolloutClass } from '../../../../policies/limits/limits.ts';
import type { Mode } from '../../../../policies/mode.ts';
import type { Directory } from '../../../../policies/place/directory.ts';
import type { ChangeRow } from './change-row.ts';
import { modeEffect } from './effects.ts';

/** A group without an entry follows the ones above it, so what a change comes to is told from both ends. */
export function rolloutRows(
  from: LimitSet,
  to: LimitSet,
  directory: Directory | undefined,
): readonly ChangeRow[] {
  const groups = [...new Set([...to.rollouts.keys(), ...from.rollouts.keys()])];
  return groups.flatMap((group) =>
    (['cost', 'capacity'] as const).flatMap((ruleClass): readonly ChangeRow[] => {
      const [before, after] = [from.rollouts.get(group)?.[ruleClass], to.rollouts.get(group)?.[ruleClass]];
      if (before === after) return [];
      const effective = (set: LimitSet): Mode => rolledOutTo(set, group, ruleClass, directory);
      return [
        {
          about: 'rollout',
          subject: `group/${group}`,
          limit: ruleClass,
          field: 'mode',
          from: before ?? null,
          to: after ?? null,
          effect: modeEffect(effective(from), effective(to)),
        },
      ];
    }),
  );
}

function rolledOutTo(
  { rollouts }: LimitSet,
  group: number,
  ruleClass: RolloutClass,
  directory: Directory | undefined,
): Mode {
  const chain = directory?.chainById.get(group)?.map(({ id }) => id) ?? [group];
  for (const id of [...chain].reverse()) {
    const mode = rollouts.get(id)?.[ruleClass];
    if (mode !== undefined) return mode;
  }
  return 'enforce';
}
