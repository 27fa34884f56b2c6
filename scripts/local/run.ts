import type { Rules } from '../../functions/admit/decide.ts';
import type { Observe, RelayEvent } from '../../relay/events.ts';
import { seededRandom } from '../pipeline/seeded-random.ts';
import { serveAdmit } from './admit-server.ts';
import { AS_ESTIMATED, endLeftovers, JobLives, REPLAYED } from './job-lives.ts';
import { openLocalLedger } from './ledger-source.ts';
import { limitFigures } from './limit-figures.ts';
import { openLocalRouter } from './local-router-source.ts';
import type { StartOptions } from './options.ts';
import { choosePipeline } from './pipeline-choice.ts';
import { newRelay } from './relay-source.ts';
import { type Summary, Tally } from './summary.ts';

/** What the run tells whoever watches. */
export interface Screen {
  /** What was started, once. */
  started(facts: Readonly<Record<string, string>>): void;
  answered(
    answered: Extract<RelayEvent, { readonly type: 'answered' }>,
    count: number,
    total: number | undefined,
  ): void;
  /** Something that is not a decision and worth a line, e.g. that the router cannot be reached. */
  trouble(text: string): void;
  finished(summary: Summary): void;
}

/** Starts everything, lets it run until the pipeline is through or `stop` aborts, and takes it down again. */
export async function run(
  options: StartOptions,
  rules: Rules,
  root: string,
  screen: Screen,
  stop: AbortSignal,
): Promise<void> {
  const pipeline = options.router === undefined ? choosePipeline(options.pipeline, root) : undefined;
  const instance = options.router === undefined ? 'gitlab.local' : new URL(options.router).hostname;
  const ledger = await openLocalLedger({
    instance,
    dataDir: `${root}.tollgate/dynamodb`,
    memory: options.memory,
    fresh: options.fresh,
  });
  await endLeftovers(ledger.store, ledger.ledger);
  const admit = await serveAdmit(ledger.ledger, rules);
  const local =
    pipeline !== undefined && rules.directory !== undefined
      ? await openLocalRouter(options, pipeline, rules.directory)
      : undefined;
  const tally = new Tally();
  const span = local === undefined ? AS_ESTIMATED : REPLAYED;
  const lives = new JobLives(ledger.ledger, span, seededRandom(options.seed));
  let count = 0;
  const observe: Observe = (event) => {
    if (event.type === 'answered') {
      count += 1;
      tally.add(event);
      screen.answered(event, count, local?.total);
      const { request, decision } = event;
      if (event.answer.outcome === 'admitted' && request !== undefined && decision?.outcome === 'admitted') {
        lives.start(request.jobId, decision.terms?.estimateSeconds ?? 0);
      }
    } else {
      const text = troubleText(event);
      if (text !== undefined) screen.trouble(text);
    }
  };
  const relay = newRelay(options, local, admit.url, rules, observe);
  screen.started({
    ledger: ledger.description,
    admit: admit.url,
    router: local === undefined ? (options.router ?? '') : `${local.url} (local)`,
    ...(local === undefined
      ? { jobs: 'are taken to last as estimated; a deployment learns the truth from GitLab' }
      : {
          pipeline: `${local.pipeline}, ${local.jobs} jobs`,
          ...(local.notFetched.length > 0 && {
            'not read': `${local.notFetched.length} includes that only GitLab can fetch`,
          }),
        }),
  });
  // The first read opens the connections and warms the database, which is nobody's latency.
  await limitFigures(rules.limits, rules.directory, ledger.ledger, Date.now());
  relay.start();
  if (local === undefined) await aborted(stop);
  else await local.run(() => stop.aborted);
  const limits = await limitFigures(rules.limits, rules.directory, ledger.ledger, Date.now());
  screen.finished(tally.summary(limits));
  await relay.stop();
  await local?.close();
  await lives.close();
  await admit.stop();
  await ledger.stop();
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) =>
    signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true }),
  );

function troubleText(event: RelayEvent): string | undefined {
  switch (event.type) {
    case 'backing_off':
      return `no stream to the router (status ${event.code}), next try in ${Math.round(event.delayMs)} ms${event.remedy === undefined ? '' : `: ${event.remedy}`}`;
    case 'registration_failed':
      return `registration failed (status ${event.code}): ${event.details}; admission goes on without it`;
    case 'unreadable':
      return `a question could not be read: ${event.problem}`;
    case 'unknown_fields':
      return `the schema does not explain: ${event.fields.join(' ')}`;
    case 'suspicious':
      return `job ${event.jobId}: variables contradict GitLab in ${event.fields.join(', ')}`;
    case 'admit_failed':
      return `admit function: ${event.details}`;
    default:
      return undefined;
  }
}
