/**
 * The deployments of `cdk deploy`. Edit this file. `settings/props.ts` explains every setting, and
 * mistakes are reported before any deployment. For one run, a setting can also be given as `-c relay.image=…`.
 *
 * One entry is one Tollgate for one GitLab instance. Several entries may serve stages or instances, also in one
 * account: each has its own table, functions, relays and parameters. `-c stage=staging` selects one.
 *
 * Put secrets into SSM, under the names of `parameters`, and never here.
 */
import type { Deployment } from './settings/props.ts';

export const deployments: readonly Deployment[] = [
  {
    stage: 'prod',
    gitlab: {
      url: 'https://gitlab.example.com',
      // The field numbers of your GitLab's version, which are not in this repository. Make this file first, and commit it:
      // npx tollgate gitlab descriptors --ref v18.9.0
      descriptors: 'gitlab.binpb',
      // Asked of GitLab: curl --header "PRIVATE-TOKEN: …" https://gitlab.example.com/api/v4/metadata → kas.externalUrl
      // routerUrl: 'wss://kas.gitlab.example.com',
      // Number of the runner controller; needed for the watchdog, and where its scope is single runners.
      // controllerId: 7,
    },

    // GitLab 18.9 to 18.11 cannot sign its webhooks; their secret token is taken from here: "Add the webhooks" in RUNBOOK.md.
    // parameters: { webhookTokens: '/tollgate/prod/webhook-tokens' },

    // Receivers of alarms. An address gets a mail that it must confirm.
    // alarms: { emails: ['ci-on-call@example.com'] },

    // The accounting zone: days of usage and months of statements begin and end in it. UTC if left out.
    // usageZone: 'Europe/Berlin',
  },
];
