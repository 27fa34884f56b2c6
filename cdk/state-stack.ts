import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { DecisionExport } from './constructs/decision-export.ts';
import { LedgerTable } from './constructs/ledger-table.ts';
import type { Settings } from './settings/deployment.ts';

/** State that outlives deployments: the ledger table and the decision export. Deleting this stack keeps both. */
export class StateStack extends Stack {
  readonly ledger: LedgerTable;
  readonly decisionExport: DecisionExport;

  constructor(
    scope: Construct,
    id: string,
    { settings, ...props }: StackProps & { readonly settings: Settings },
  ) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: the books`,
      terminationProtection: true,
    });
    this.ledger = new LedgerTable(this, 'Ledger', settings);
    new CfnOutput(this, 'TableName', { value: this.ledger.table.tableName, description: 'The ledger' });
    this.decisionExport = new DecisionExport(this, 'Export', settings.state);
    const { bucketName, bucketArn } = this.decisionExport.bucket;
    // Always exported, because a service from before a change of settings still imports them during the update.
    for (const attribute of [bucketName, bucketArn]) this.exportValue(attribute);
    new CfnOutput(this, 'ExportBucketName', {
      value: bucketName,
      description: 'Decisions outside the table',
    });
  }
}
