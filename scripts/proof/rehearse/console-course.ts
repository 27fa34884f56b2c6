/** The console as a stranger meets it: everything behind its sign-in needs a browser and a GitLab. */
import { ENV_GITLAB_URL } from '../../../functions/names.ts';
import { isRecord } from '../../../policies/document/reading.ts';
import { startSignInGitLab } from '../../local/gitlab/sign-in-gitlab.ts';
import * as deployed from './deployed.ts';
import { REHEARSAL_CLIENT_ID, REHEARSAL_CONSOLE_URL } from './emulated-cdk.ts';
import { documentedUrlEvent } from './function-url-event.ts';
import type { HostedBundle } from './hosted-bundle.ts';
import { expectEqual, type Step } from './step.ts';

type Place = deployed.RehearsalPlace;

const BROWSER = { accept: 'text/html' };

export const CONSOLE_COURSE: readonly Step<Place>[] = [
  {
    name: 'the deployed console is there, shows strangers nothing, and sends them to GitLab to sign in',
    run: async (place) => {
      const gitlab = await startSignInGitLab({
        redirectUrl: `${REHEARSAL_CONSOLE_URL}/signin/callback`,
        users: [],
      });
      const console = await deployed.startDeployed(place, 'console', { [ENV_GITLAB_URL]: gitlab.url });
      try {
        expectEqual('/healthz', (await get(console, '/healthz')).status, 200);
        const page = await get(console, '/groups/101');
        expectEqual('a page', [page.status, page.location], [302, '/signin?returnTo=%2Fgroups%2F101']);
        for (const path of ['/api/v1/me', '/api/v1/limits', '/api/v1/groups'])
          expectEqual(path, (await get(console, path)).status, 401);
        const signIn = await get(console, '/signin');
        expectEqual('/signin', signIn.status, 302);
        const { origin, pathname, searchParams } = new URL(signIn.location ?? '');
        expectEqual('the way to sign in', `${origin}${pathname}`, `${gitlab.url}/oauth/authorize`);
        expectEqual('the application', searchParams.get('client_id'), REHEARSAL_CLIENT_ID);
        expectEqual(
          'the way back',
          searchParams.get('redirect_uri'),
          `${REHEARSAL_CONSOLE_URL}/signin/callback`,
        );
        return `console at ${deployed.outputsOf(place, deployed.SERVICE_STACK).ConsoleUrl}`;
      } finally {
        await console.close();
        await gitlab.stop();
      }
    },
  },
];

async function get(console: HostedBundle, path: string) {
  const answer = await console.invoke(documentedUrlEvent({ path, method: 'GET', headers: BROWSER }));
  if (!isRecord(answer)) throw new Error(`${path} answered ${JSON.stringify(answer)}`);
  const location = isRecord(answer.headers) ? answer.headers.location : undefined;
  return { status: answer.statusCode, location: typeof location === 'string' ? location : undefined };
}
