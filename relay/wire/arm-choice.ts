/**
 * Which of the two arms the router takes for `admitted`. Descriptors of another version may have them the other way
 * round: each admission then is a rejection without a reason, which a router refuses as invalid and which fails the job.
 * An arm that is refused fails every job for certain, so the other one is tried.
 */

interface ArmChoice {
  /** `admitted` goes by the arm that the descriptors call `rejected`. */
  readonly swapped: boolean;
  /** Answers refused since the last one that was taken. */
  readonly refused: number;
  /** Whether the router ever took an answer by this arm. */
  readonly taken: boolean;
}

export const AS_DESCRIBED: ArmChoice = { swapped: false, refused: 0, taken: false };

/** An arm that worked before is given up later: a single refusal may have had another reason. */
const REFUSED_MAX_ONCE_TAKEN = 3;

/** @param outcome - how the router ended the stream on which it was answered. */
export function answerEnded(choice: ArmChoice, outcome: 'taken' | 'refused'): ArmChoice {
  if (outcome === 'taken')
    return choice.taken && choice.refused === 0 ? choice : { ...choice, refused: 0, taken: true };
  const refused = choice.refused + 1;
  if (refused < (choice.taken ? REFUSED_MAX_ONCE_TAKEN : 1)) return { ...choice, refused };
  return { swapped: !choice.swapped, refused: 0, taken: false };
}
