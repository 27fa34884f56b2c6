import type { Router } from '../../../relay/router/router.ts';
import { createRouter } from '../../../relay/router/router-client.ts';
import { parseTarget } from '../../../relay/router/target.ts';
import { literalToken } from '../../../relay/token.ts';
import type { WireSchema } from '../../../relay/wire/schema.ts';
import { BENCH_TOKENS } from './router-process.ts';

/** The relay's own client, towards the router of the bench. */
export const benchRouter = (url: string, schema: WireSchema, token: string = BENCH_TOKENS[1]): Router =>
  createRouter({
    target: parseTarget(url),
    schema,
    token: literalToken(token),
    userAgent: 'tollgate-bench',
  });
