/** The relay as it was deployed: its bundle, the environment of its task, and a job router that speaks by its descriptors. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as names from '../../../relay/names.ts';
import { loadSchema } from '../../../relay/wire/schema.ts';
import { loopbackPort } from '../../local/free-port.ts';
import { startLocalRouter } from '../../local/router/local-router.ts';
import * as deployed from './deployed.ts';
import { serveFunctionUrl } from './function-url-server.ts';
import { startRelayBundle } from './relay-bundle.ts';
import { expectEqual, type Step } from './step.ts';

/** Nobody's; it lies in the emulator's Parameter Store. */
export const ROUTER_TOKEN = 'glrct-of-this-rehearsal-only';

const RELAY_BUNDLE = fileURLToPath(new URL('../../../dist/relay', import.meta.url));
const APP_FOLDER = '/app/';
const STREAMS_MS_MAX = 60_000;
/** A relay rejects nothing before its descriptors have explained questions of several projects. */
const GOOD_JOBS = 9;
/** From policies/directory.yaml; none of their groups runs more jobs at once than it may. */
const PROJECTS = [
  { project_id: 1003, namespace_id: 102 },
  { project_id: 1004, namespace_id: 102 },
  { project_id: 1005, namespace_id: 103 },
];
const FIRST_JOB = 5_000;

export const RELAY_COURSE: readonly Step<deployed.RehearsalPlace>[] = [
  {
    name: 'the deployed relay answers a router that speaks by the deployment’s descriptors',
    run: async (place) => {
      const told = await deployed.relayEnvironmentOf(place);
      const descriptors = told[names.ENV_PROTO_FILE]?.replace(APP_FOLDER, `${RELAY_BUNDLE}/`) ?? '';
      expectEqual(`whether the bundle has ${descriptors}`, existsSync(descriptors), true);
      const router = await startLocalRouter({
        controllers: [{ id: 1, tokens: [ROUTER_TOKEN], state: 'enabled' }],
        schema: loadSchema(place.descriptors),
      });
      const admit = await deployed.startDeployed(place, 'admit');
      const url = await serveFunctionUrl(admit);
      const relay = startRelayBundle(RELAY_BUNDLE, {
        ...place.awsEnv,
        ...told,
        // It is killed at the end and leaves its socket's folder there.
        TMPDIR: place.folder,
        [names.ENV_AWS_SSM_ENDPOINT]: place.emulator.endpoint,
        [names.ENV_PROTO_FILE]: descriptors,
        [names.ENV_POLICY_FILE]: join(RELAY_BUNDLE, 'rules.json'),
        [names.ENV_ROUTER_URL]: router.wsUrl ?? '',
        [names.ENV_ADMIT_URL]: url.url,
        [names.ENV_DEADLINE_MS]: '10000',
        [names.ENV_HEALTH_PORT]: String(await loopbackPort()),
      });
      try {
        await Promise.race([
          router.until(() => router.waitingStreams() > 0, { timeoutMs: STREAMS_MS_MAX }),
          relay.failed,
        ]);
        for (let job = 0; job < GOOD_JOBS; job += 1) {
          const { result } = await router.admit(questionOf(FIRST_JOB + job, 'golang:1.26'));
          expectEqual(`the answer to a good job (${job})`, result, 'admitted');
        }
        const bad = await router.admit(questionOf(FIRST_JOB + GOOD_JOBS, 'registry.elsewhere.test/x:1'));
        expectEqual('the answer to a job with a foreign image', bad.result, 'rejected');
        return `${GOOD_JOBS} good jobs admitted, a bad one rejected, by ${descriptors.split('/').at(-1)}`;
      } finally {
        await relay.close();
        await url.close();
        await admit.close();
        await router.close();
      }
    },
  },
];

function questionOf(jobId: number, image: string) {
  const place = { ...PROJECTS[jobId % PROJECTS.length], root_namespace_id: 100 };
  return {
    id: jobId,
    job_info: { id: jobId, name: 'unit', stage: 'test', pipeline_id: 5000, user_id: 7, ...place },
    runner_info: { id: 12, timeout: 600, tags: [] },
    image: { name: image },
    variables: [],
  };
}
