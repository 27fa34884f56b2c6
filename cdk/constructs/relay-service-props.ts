import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Settings } from '../settings/settings.ts';
import type { RelayNetwork } from './network.ts';

/** Route to the admit function; `url` is the Function URL. */
export type RelayAdmitRoute =
  | { readonly route: 'url'; readonly url: string; readonly fn: IFunction }
  | { readonly route: 'invoke'; readonly fn: IFunction };

export interface RelayServiceProps {
  readonly settings: Settings;
  readonly network: RelayNetwork;
  readonly admit: RelayAdmitRoute;
  /** Takes the heartbeat, if there is a watchdog. */
  readonly table: ITable;
}
