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

    // Jobs that end a second at the busiest; a burst of ten times as many loses no webhook: "Webhooks a second" in RUNBOOK.md.
    // webhooks: { jobsPerSecond: 1 },

    // Receivers of alarms. An address gets a mail that it must confirm.
    // alarms: { emails: ['ci-on-call@example.com'] },

    // An existing network, rather than a new one with two public subnets:
    // vpc: {
    //   id: 'vpc-0a1b2c3d4e5f60718',
    //   subnetIds: ['subnet-0a1b2c3d4e5f60718', 'subnet-0b1c2d3e4f5a60718'],
    //   availabilityZones: ['eu-central-1a', 'eu-central-1b'],
    // },

    // Decision about jobs while the ledger is unreachable: 'admit' lets them run, 'reject' fails them for good.
    // relay: { failurePolicy: 'admit' },

    // A web page for finance and owners of groups, with GitLab's sign-in: "Open the console" in RUNBOOK.md.
    // console: {
    //   url: 'https://budget.example.com',
    //   clientId: '2f0a…', // of the application registered in GitLab; its secret goes into SSM
    //   adminGroupId: 123, // direct members administrate Tollgate
    //   financeGroupId: 124, // direct members may change every limit
    // },

    // Days that decisions and limits are archived outside the table as well; 0 keeps them in it alone.
    // state: { exportDays: 90 },

    // Minutes between notices to owners of limits, one message each; 0 sends none.
    // notices: { everyMinutes: 15 },

    // The accounting zone: days of usage and months of statements begin and end in it. UTC if left out.
    // usageZone: 'Europe/Berlin',
  },
];
