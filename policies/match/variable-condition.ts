import type { AdmissionRequest } from '../request/request.ts';
import { comparedValue } from '../variables/compared-value.ts';
import type { VariableConditions } from './conditions.ts';
import type { Wildcard } from './wildcard.ts';

/** Whether all of them hold, or the field it would take to tell. What fails outweighs what is not known. */
export function variablesHold(conditions: VariableConditions, request: AdmissionRequest): boolean | string {
  let all: string | true = true;
  for (const [name, wanted] of conditions) {
    const compared = comparedValue(request, name);
    if (!compared.known) all = compared.field;
    else if (!valueHolds(wanted, compared.value)) return false;
  }
  return all;
}

const valueHolds = (wanted: readonly Wildcard[] | boolean, value: string | undefined): boolean =>
  typeof wanted === 'boolean'
    ? wanted === (value !== undefined)
    : value !== undefined && wanted.some(({ matches }) => matches(value));
