/** Names that one stack uses of another. A reference would let neither change or go without the other. It does not load the CDK. */
export const functionName = (stage: string, program: string): string => `tollgate-${stage}-${program}`;
/** The alias of functions that are called from outside. */
export const LIVE = 'live';
export const deadLettersName = (stage: string, reader: string): string =>
  `${functionName(stage, reader)}-dead-letters`;
export const operatorsTopicName = (stage: string): string => `tollgate-${stage}-alarms`;
export const alarmName = (stage: string, name: string): string => `tollgate-${stage}-${name}`;
export const relayClusterName = (stage: string): string => `tollgate-${stage}`;
export const RELAY_SERVICE = 'relay';
