import type { Unit } from '../../../policies/units/unit.ts';
import { amountText } from '../../../policies/units/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { subjectPagePath } from '../../core/notify/console-links.ts';
import { limitWords } from '../standing/limit-words.ts';
import type { ShadowRow } from './model.ts';

export interface OwnerMessage {
  readonly subject: string;
  readonly text: string;
  /** The subject: `group/101`, and its path. */
  readonly about: string;
  readonly path: string;
  readonly owner?: string;
  readonly contact?: string;
}

interface MessageFormat {
  readonly days: number;
  readonly currency: string;
  /** The console's address; undefined: not known. */
  readonly origin: string | undefined;
}

/** The owner's message: jobs, rules and links. */
export function ownerMessage(row: ShadowRow, { days, currency, origin }: MessageFormat): OwnerMessage {
  const { path, jobs, ranRejected, wouldFail, limits, owner, contact, subject } = row;
  const amount = (whole: number, unit: Unit): string => amountText(whole, unit, currency);
  const limitAmount = ({ amount: of, unit }: ShadowRow['limits'][number]['limit']): string =>
    of === 'unlimited' ? of : amount(of, unit);
  const ran = counted(jobs, 'CI job');
  const lines = [
    `In the last ${days} days ${path} ran ${ran}. ${WOULD_HAVE_FAILED}`,
    '',
    ...wouldFail.map(({ rule, jobs: count }) => `- ${rule}: ${counted(count, 'job')}`),
    ...limits.map(({ limit, refusedAmount }) => {
      const tooMuch = amount(refusedAmount, limit.unit);
      return `- ${limitWords(limit)}, ${limitAmount(limit)}: ${tooMuch} too much`;
    }),
    ...(wouldFail.length + limits.length === 0 ? ['- none'] : []),
    '',
    ...(ranRejected > 0 ? [`${counted(ranRejected, 'job')} ${RAN_REJECTED}`, ''] : []),
    `${ranRejected > 0 ? ONLY_WATCHES : NOTHING_REJECTED}${origin === undefined ? '' : FIGURES}`,
    ...(origin === undefined ? [] : [`${origin}${subjectPagePath(subject)}`]),
  ];
  return {
    subject: `CI limits of ${path}: what would have failed`,
    text: lines.join('\n'),
    about: subject,
    path,
    ...withoutAbsent({ owner, contact }),
  };
}

const counted = (count: number, one: string): string =>
  `${count.toLocaleString('en-US')} ${count === 1 ? one : `${one}s`}`;

const WOULD_HAVE_FAILED = 'These would have failed, had every limit and rule been enforced:';
const RAN_REJECTED = [
  'ran although rejected by what is enforced: the runner controller is in dry run, or was then.',
  'Armed, it would have failed them.',
].join(' ');
const ONLY_WATCHES = 'What only watches rejects nothing yet.';
const NOTHING_REJECTED = 'Nothing was rejected: these limits only watch so far.';
const FIGURES = ' The figures, and how to ask for more:';
