import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { DecisionExport } from './constructs/decision-export.ts';
import { LedgerTable } from './constructs/ledger-table.ts';
import type { Settings } from './settings/settings.ts';

interface StateStackProps extends StackProps {
  readonly settings: Settings;
}

/** What outlives every deployment: the books, and decisions beside them. Destroying this stack leaves table and bucket where they are. */
export class StateStack extends Stack {
  readonly ledger: LedgerTable;
  readonly decisionExport: DecisionExport;

  constructor(scope: Construct, id: string, { settings, ...props }: StateStackProps) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: the books`,
      terminationProtection: true,
    });
    this.ledger = new LedgerTable(this, 'Ledger', { settings });
    new CfnOutput(this, 'TableName', { value: this.ledger.table.tableName, description: 'The ledger' });
    this.decisionExport = new DecisionExport(this, 'Export', {
      days: settings.state.exportDays,
      keyArn: settings.state.tableKeyArn,
    });
    const { bucket } = this.decisionExport;
    // Exported whoever asks: a service of before the setting changed still uses them while this stack is updated.
    for (const attribute of [bucket.bucketName, bucket.bucketArn]) this.exportValue(attribute);
    new CfnOutput(this, 'ExportBucketName', {
      value: bucket.bucketName,
      description: 'Decisions outside the table',
    });
  }
}
