import { CfnOutput, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { DecisionExport } from './constructs/decision-export.ts';
import { LedgerTable } from './constructs/ledger-table.ts';
import { addReceiver, webhookUrlAt } from './constructs/programs.ts';
import type { DeploymentProps } from './settings/deployment.ts';

/**
 * State that outlives deployments: the ledger table, the decision export and the decision log, kept even if this stack is
 * deleted, and the receiver of webhooks. GitLab knows its address, and it fills the table's inbox while the other stacks are gone.
 */
export class StateStack extends Stack {
  readonly ledger: LedgerTable;
  readonly decisionExport: DecisionExport;
  readonly decisionLog: LogGroup;
  /** Address of the receiver of webhooks. Ends with "/". */
  readonly receiverUrl: string;
  /** Begins the addresses of webhooks: the number of the top-level group follows. */
  readonly webhookUrl: string;

  constructor(
    scope: Construct,
    id: string,
    { settings, bundlesPath, ...props }: StackProps & DeploymentProps,
  ) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: the books`,
      terminationProtection: true,
    });
    this.ledger = new LedgerTable(this, 'Ledger', settings);
    this.decisionLog = new LogGroup(this, 'DecisionLog', {
      retention: settings.logRetentionDays,
      // Decisions are evidence: they expire with their retention.
      removalPolicy: RemovalPolicy.RETAIN,
    });
    const publisher = this.ledger.addPolicyPublisher();
    this.decisionExport = new DecisionExport(this, 'Export', settings.state);
    this.receiverUrl = addReceiver(this, { settings, bundlesPath, ledger: this.ledger });
    this.webhookUrl = webhookUrlAt(this.receiverUrl);
    const { bucketName, bucketArn } = this.decisionExport.bucket;
    // Always exported, because functions from before a change of settings or of this version still import them during the update.
    const urls = settings.edge === undefined ? [this.receiverUrl] : [];
    for (const attribute of [bucketName, bucketArn, ...urls]) this.exportValue(attribute);
    for (const [name, value, description] of [
      ['TableName', this.ledger.table.tableName, 'The ledger'],
      ['PolicyPublisherArn', publisher.managedPolicyArn, 'For the role that publishes rules'],
      ['ExportBucketName', bucketName, 'Decisions outside the table'],
      ['DecisionLogName', this.decisionLog.logGroupName, 'Log of the relays'],
      ['WebhookUrl', this.webhookUrl, 'The address of the job webhook in GitLab'],
    ] as const)
      new CfnOutput(this, name, { value, description });
  }
}
