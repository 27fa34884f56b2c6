import { CfnOutput, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { LedgerTable } from './constructs/ledger-table.ts';
import type { Settings } from './settings/settings.ts';

export interface StateStackProps extends StackProps {
  readonly settings: Settings;
}

/** What outlives every deployment: the books. Destroying this stack leaves the table where it is. */
export class StateStack extends Stack {
  readonly ledger: LedgerTable;

  constructor(scope: Construct, id: string, { settings, ...props }: StateStackProps) {
    super(scope, id, {
      ...props,
      description: `Tollgate ${settings.stage}: the books`,
      terminationProtection: true,
    });
    this.ledger = new LedgerTable(this, 'Ledger', { settings });
    new CfnOutput(this, 'TableName', { value: this.ledger.table.tableName, description: 'The ledger' });
  }
}
