import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { AdmitFunction } from './constructs/admit-function.ts';
import { Console } from './constructs/console.ts';
import type { DecisionExport } from './constructs/decision-export.ts';
import { DirectorySync } from './constructs/directory-sync.ts';
import { Doctor } from './constructs/doctor.ts';
import { DriftCheck } from './constructs/drift-check.ts';
import type { LedgerTable } from './constructs/ledger-table.ts';
import { RelayNetwork } from './constructs/network.ts';
import { Notices } from './constructs/notices.ts';
import { OperatorsTopic } from './constructs/operators-topic.ts';
import { RelayDeployments } from './constructs/relay-deployments.ts';
import { RelayService } from './constructs/relay-service.ts';
import { RequeueProgram } from './constructs/requeue.ts';
import { Rollup } from './constructs/rollup.ts';
import { SettleEndpoint } from './constructs/settle-endpoint.ts';
import { SettleStream } from './constructs/settle-stream.ts';
import { SsmLimits } from './constructs/ssm-limits.ts';
import { Sweep } from './constructs/sweep.ts';
import { ThresholdsTopic } from './constructs/thresholds-topic.ts';
import { Watchdog } from './constructs/watchdog.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import type { Settings } from './settings/settings.ts';

interface ServiceStackProps extends StackProps {
  readonly settings: Settings;
  readonly ledger: LedgerTable;
  /** Bucket of exported decisions. Undefined: none. */
  readonly decisionExport: DecisionExport | undefined;
  /** Folder with the bundles that `npm run bundle` makes. */
  readonly bundlesPath: string;
}

/** Everything that runs. It keeps nothing: it can be destroyed and deployed again on the same books. */
export class ServiceStack extends Stack {
  readonly relay: RelayService;
  readonly admit: AdmitFunction;
  readonly settleEndpoint: SettleEndpoint;
  readonly settleStream: SettleStream;
  readonly rollup: Rollup;
  readonly sweep: Sweep;
  readonly directorySync: DirectorySync;
  readonly ssmLimits: SsmLimits;
  readonly driftCheck: DriftCheck;
  readonly doctor: Doctor;
  /** Only where the settings say where groups' tokens are. */
  readonly requeue: RequeueProgram | undefined;
  /** Unless the settings switch them off. */
  readonly notices: Notices | undefined;
  /** Only where the settings want one. */
  readonly console: Console | undefined;
  /** Only where the settings want one. */
  readonly watchdog: Watchdog | undefined;
  /** For owners of limits. */
  readonly thresholds: ThresholdsTopic;
  /** For those on call. */
  readonly operators: OperatorsTopic;
  readonly monitoring: Monitoring;

  constructor(
    scope: Construct,
    id: string,
    { settings, ledger, decisionExport, bundlesPath, ...props }: ServiceStackProps,
  ) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: relay and functions`,
      // GitLab fails every job of an enabled controller without a relay: `npm run destroy` asks first, then lifts this.
      terminationProtection: true,
    });
    const shared = { settings, ledger, bundlesPath };
    const network = new RelayNetwork(this, 'Network', settings.vpc);
    this.operators = new OperatorsTopic(this, 'Operators', { settings });
    this.thresholds = new ThresholdsTopic(this, 'Thresholds', { settings });

    this.admit = new AdmitFunction(this, 'Admit', shared);
    this.relay = new RelayService(this, 'Relay', {
      settings,
      network,
      admit: this.admit.target,
      table: ledger.table,
    });
    new RelayDeployments(this, 'RelayDeployments', {
      settings,
      serviceArn: this.relay.service.serviceArn,
      topic: this.operators.topic,
    });
    this.settleEndpoint = new SettleEndpoint(this, 'Settle', shared);
    this.settleStream = new SettleStream(this, 'SettleStream', shared);
    this.rollup = new Rollup(this, 'Rollup', { ...shared, thresholds: this.thresholds, decisionExport });
    this.sweep = new Sweep(this, 'Sweep', { ...shared, network });
    this.directorySync = new DirectorySync(this, 'DirectorySync', {
      ...shared,
      network,
      webhookUrl: this.settleEndpoint.webhookUrl,
    });
    this.ssmLimits = new SsmLimits(this, 'SsmLimits', shared);
    this.driftCheck = new DriftCheck(this, 'DriftCheck', shared);
    this.doctor = new Doctor(this, 'Doctor', {
      ...shared,
      network,
      webhookUrl: this.settleEndpoint.webhookUrl,
    });
    const { requeueTokens } = settings.parameters;
    this.requeue =
      requeueTokens === undefined
        ? undefined
        : new RequeueProgram(this, 'Requeue', { ...shared, network, tokensPath: requeueTokens });
    const { everyMinutes } = settings.notices;
    this.notices =
      everyMinutes === 0
        ? undefined
        : new Notices(this, 'Notices', { ...shared, network, thresholds: this.thresholds, everyMinutes });
    this.console =
      settings.console === undefined
        ? undefined
        : new Console(this, 'Console', {
            ...shared,
            network,
            thresholds: this.thresholds,
            console: settings.console,
          });
    const { controllerId } = settings.gitlab;
    this.watchdog =
      settings.watchdog && controllerId !== undefined
        ? new Watchdog(this, 'Watchdog', {
            settings,
            bundlesPath,
            network,
            controllerId,
            table: ledger.table,
            controllerTokenParameter: settings.parameters.controllerToken,
            topic: this.operators.topic,
          })
        : undefined;

    this.monitoring = new Monitoring(this, 'Monitoring', {
      settings,
      table: ledger.table,
      relay: this.relay,
      programs: {
        admit: this.admit.program,
        settle: this.settleEndpoint.program,
        'settle-stream': this.settleStream.program,
        rollup: this.rollup.program,
        sweep: this.sweep.program,
        directory: this.directorySync.program,
        drift: this.driftCheck.program,
        doctor: this.doctor.program,
        notices: this.notices?.program,
        requeue: this.requeue?.program,
        'ssm-limits': this.ssmLimits.program,
        console: this.console?.program,
        watchdog: this.watchdog?.program,
      },
      readers: { 'settle-stream': this.settleStream.consumer, rollup: this.rollup.consumer },
      topicArns: this.operators.topicArns,
    });

    new CfnOutput(this, 'WebhookUrl', {
      value: this.settleEndpoint.webhookUrl,
      description: 'The address of the job webhook in GitLab',
    });
    if (this.console !== undefined) {
      new CfnOutput(this, 'ConsoleUrl', {
        value: this.console.functionUrl,
        description: 'Where the console answers; people use console.url of the settings',
      });
    }
    new CfnOutput(this, 'ThresholdsTopicArn', {
      value: this.thresholds.topic.topicArn,
      description: 'Owners of limits subscribe here',
    });
    new CfnOutput(this, 'AlarmsTopicArn', {
      value: this.operators.topic.topicArn,
      description: 'Those on call subscribe here',
    });
  }
}
