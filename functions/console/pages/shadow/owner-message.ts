import type { ShadowRow } from '../../../answers/shadow/model.ts';
import type { OwnerMessage } from '../pages-deps.ts';
import { limitAmountWords, limitWords } from '../parts/limit-words.ts';
import { type PageFormat, pageAmount, pageCount } from '../parts/page-format.tsx';

/** What the owner of a group reads: whose, how many, by what, and where to look. */
export function ownerMessage(
  row: ShadowRow,
  days: number,
  origin: string,
  telling: PageFormat,
): OwnerMessage {
  const { path, jobs, ranRejected, wouldFail, limits, owner, contact, subject } = row;
  const ran = pageCount(jobs, 'CI job');
  const lines = [
    `In the last ${days} days ${path} ran ${ran}. ${WOULD_HAVE_FAILED}`,
    '',
    ...wouldFail.map(({ rule, jobs: count }) => `- ${rule}: ${pageCount(count, 'job')}`),
    ...limits.map(({ limit, refusedAmount }) => {
      const tooMuch = pageAmount(refusedAmount, limit.unit, telling);
      return `- ${limitWords(limit)}, ${limitAmountWords(limit, telling)}: ${tooMuch} too much`;
    }),
    ...(wouldFail.length + limits.length === 0 ? ['- none'] : []),
    '',
    ...(ranRejected > 0 ? [`${pageCount(ranRejected, 'job')} ${RAN_REJECTED}`, ''] : []),
    `${ranRejected > 0 ? ONLY_WATCHES : NOTHING_REJECTED} The figures, and how to ask for more:`,
    `${origin}/groups/${subject.slice(subject.indexOf('/') + 1)}`,
  ];
  return {
    subject: `CI limits of ${path}: what would have failed`,
    text: lines.join('\n'),
    about: subject,
    path,
    ...(owner !== undefined && { owner }),
    ...(contact !== undefined && { contact }),
  };
}

const WOULD_HAVE_FAILED = 'These would have failed, had every limit and rule been enforced:';
const RAN_REJECTED = [
  'ran although rejected by what is enforced: the runner controller is in dry run, or was then.',
  'Armed, it would have failed them.',
].join(' ');
const ONLY_WATCHES = 'What only watches rejects nothing yet.';
const NOTHING_REJECTED = 'Nothing was rejected: these limits only watch so far.';
