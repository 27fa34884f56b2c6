import { createAnswering } from '../../../relay/answer.ts';
import { createGroupCommit, type SendBatch } from '../../../relay/commit/group-commit.ts';
import type { RelayEvent } from '../../../relay/events.ts';
import type { RouterResponse } from '../../../relay/exchange.ts';
import { createFallback } from '../../../relay/fallback/fallback.ts';
import { createUnmetered } from '../../../relay/fallback/unmetered.ts';
import { compileReader, plausibilityJudge } from '../../../relay/translate/request-reader.ts';
import { WaitQueue } from '../../../relay/wait-queue.ts';
import { encodeKnown, loadSchema } from '../../../relay/wire/schema.ts';
import { createSchemaProof, type SchemaState } from '../../../relay/wire/schema-proof.ts';
import { type HandClock, handClock } from '../../../scripts/local/clock.ts';
import { passOn } from './commit-bench.ts';

const schema = loadSchema();
const read = compileReader(schema, { variables: { names: [], prefixes: [] }, trustVariables: false });

interface Exchange {
  readonly arrivedAtMs: number;
  readonly deadlineMs: number;
  readonly answers: RouterResponse[];
  answeredAtMs: number;
}

interface AnsweringOptions {
  /** Gets the clock so that it can take its time on it. */
  readonly send: (clock: HandClock) => SendBatch;
  readonly deadlineMs?: number;
  readonly answerWithinMs?: number;
  readonly queuedMax?: number;
  readonly schemaState?: SchemaState;
}

/** The answering core with the real schema, decoder, translator and fallback; only the way to the ledger is scripted. */
export function answeringBench(options: AnsweringOptions) {
  const { deadlineMs = 2_000, queuedMax } = options;
  const clock = handClock(1_000);
  const events: RelayEvent[] = [];
  const observe = (event: RelayEvent): number => events.push(event);
  const commit = createGroupCommit({
    ...{ send: options.send(clock), clock, observe, defer: setImmediate },
    ...(queuedMax !== undefined && { queuedMax }),
  });
  // The service is never there to be told, so what is queued can be counted.
  const post = async () => ({ kind: 'unreachable' }) as const;
  const unmetered = createUnmetered({ post, clock, random: () => 0.5, observe });
  const proof = createSchemaProof(options.schemaState ?? 'proven', (standing) =>
    observe({
      type: 'schema',
      state: standing,
      source: schema.source,
      hash: schema.hash,
      placeholder: false,
    }),
  );
  const { answerWithinMs = deadlineMs } = options;
  const fallback = createFallback({ clock, costAndCapacity: 'admit', newDecisionId: () => 'f-1' });
  const waiting = new WaitQueue({
    ...{ commit, clock, observe, deadlineMs, answerWithinMs },
    noted: fallback.noted,
  });
  const answerQuestion = createAnswering({
    judge: plausibilityJudge(() => undefined),
    ...{ read, proof, waiting, fallback, unmetered, clock, observe },
  });

  return {
    ...{ clock, commit, unmetered, events },
    ask: (bytes: Uint8Array, heard = true): Exchange => {
      const arrivedAtMs = clock.monotonicMs();
      const exchange: Exchange = { arrivedAtMs, deadlineMs, answers: [], answeredAtMs: Number.NaN };
      void answerQuestion({ bytes, arrivedAtMs }).then(({ answer, delivered }) => {
        exchange.answers.push(answer);
        exchange.answeredAtMs = clock.monotonicMs();
        delivered(heard);
      });
      return exchange;
    },
    pass: passOn(clock),
    ofType: <T extends RelayEvent['type']>(type: T) =>
      events.filter((event): event is Extract<RelayEvent, { type: T }> => event.type === type),
  };
}

export const questionOf = (
  jobId: number,
  { project = 1, root = 1 }: { readonly project?: number; readonly root?: number } = {},
): Uint8Array =>
  encodeKnown(schema.request, {
    id: BigInt(jobId),
    job_info: { id: BigInt(jobId), project_id: BigInt(project), root_namespace_id: BigInt(root) },
    image: { name: 'node:24' },
  });
