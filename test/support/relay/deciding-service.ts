import { Hono } from 'hono';
import type { AdmissionsRequest, UnmeteredRequest } from '../../../functions/core/contract/admissions.ts';
import { listen } from '../flow/flow.ts';

export const REJECTED_IMAGE = 'evil/image';

type Request = AdmissionsRequest['requests'][number];

/** A violation without its mode, and with any reason: also one that the contract does not know. */
interface Refusal {
  readonly rule: string;
  readonly class: string;
  readonly reason: object;
  readonly text: string;
}

const refusalOfImage = ({ image }: Request): Refusal | undefined =>
  image === REJECTED_IMAGE
    ? {
        ...{ rule: 'images', class: 'security', text: 'IMAGE_NOT_ALLOWED: no.' },
        reason: { code: 'IMAGE_NOT_ALLOWED', image: REJECTED_IMAGE, allowed: [] },
      }
    : undefined;

/** The contract's answer to a batch, without a ledger. */
const decided = ({ batch, requests }: AdmissionsRequest, refusalOf = refusalOfImage) => ({
  batch,
  decisions: requests.map((request) => {
    const { jobId } = request;
    const decision = { jobId, decisionId: `d-${jobId}`, shadow: [] };
    const refusal = refusalOf(request);
    if (refusal === undefined) return { ...decision, outcome: 'admitted' };
    const { text, ...violation } = refusal;
    return { ...decision, outcome: 'rejected', violations: [{ ...violation, mode: 'enforce' }], text };
  }),
});

/** Serves the admit function's routes on loopback. A status other than 200 is its whole answer. */
export async function decidingService(refusalOf = refusalOfImage) {
  const held = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const service = {
    ...{ url: '', admissions: 200, unmetered: 200, bodies: '' },
    recorded: [] as UnmeteredRequest['answers'][number][],
    refusals: 0,
    /** Holds answers back until `release`. */
    hold: false,
    asked: asked.promise,
    release: held.resolve,
    close: async () => {},
  };
  const app = new Hono();
  app.post('/v1/admissions', async (c) => {
    if (service.admissions !== 200) return new Response(null, { status: service.admissions });
    const text = await c.req.text();
    service.bodies += text;
    if (service.hold) {
      asked.resolve();
      await held.promise;
    }
    return c.json(decided(JSON.parse(text), refusalOf));
  });
  app.post('/v1/unmetered', async (c) => {
    if (service.unmetered !== 200) {
      service.refusals += 1;
      return new Response(null, {
        status: service.unmetered,
        headers: { location: 'http://elsewhere.invalid/' },
      });
    }
    const { answers } = await c.req.json<UnmeteredRequest>();
    service.recorded.push(...answers);
    return c.json({ results: answers.map(({ request: { jobId } }) => ({ jobId, outcome: 'recorded' })) });
  });
  return Object.assign(service, await listen(app));
}
