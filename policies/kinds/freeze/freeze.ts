import { readMatch } from '../../document/parse-match.ts';
import { readZone } from '../../document/parse-validity.ts';
import { Reading } from '../../document/reading.ts';
import type { Check, KnownNames, StatelessRuleKind } from '../rule-kind.ts';
import type { GroupFrozen } from './freeze-text.ts';
import { frozenUntilMs } from './freeze-window.ts';
import { readFreezeWindows } from './freeze-window-reading.ts';
import { frozenLabelling } from './frozen-label.ts';

/** Stands on the page of every job it stops. */
const WHY_CHARACTERS_MAX = 200;

/** Nothing starts in what the rule matches during its windows, or, without any, as long as the rule is there. */
export const freeze: StatelessRuleKind<GroupFrozen> = {
  class: 'capacity',
  keys: ['windows', 'zone', 'why'],
  read: readFreeze,
};

function readFreeze(reading: Reading, names: KnownNames): Check<GroupFrozen> {
  const zone = readZone(reading, names.zone) ?? names.zone;
  const windows = readFreezeWindows(reading.at('windows'), zone);
  const why = readWhy(reading.at('why'));
  // Read a second time, for what it says only: problems were noted when the rule's own match was read.
  const labelOf = frozenLabelling(readMatch(Reading.of(reading.at('match').value), names.runnerClasses));
  return (job) => {
    const untilMs = windows === undefined ? Number.POSITIVE_INFINITY : frozenUntilMs(windows, job.nowMs);
    if (untilMs === undefined) return [];
    return [
      {
        code: 'GROUP_FROZEN',
        frozenLabel: labelOf(job),
        ...(untilMs !== Number.POSITIVE_INFINITY && { untilMs }),
        zone,
        ...(why !== undefined && { why }),
      },
    ];
  };
}

const readWhy = (reading: Reading): string | undefined =>
  reading.isThere ? reading.text(`a text of at most ${WHY_CHARACTERS_MAX} characters`, isWhy) : undefined;

const isWhy = (text: string): boolean => text.trim() !== '' && text.length <= WHY_CHARACTERS_MAX;
