import type { AdmissionRequest } from '../request/request.ts';

type ComparedValue =
  | { readonly known: true; readonly value?: string }
  /** The field that is missing: GitLab sent no variables at all, or not what this one will hold. */
  | { readonly known: false; readonly field: string };

const UNSET: ComparedValue = { known: true };
const NOT_SENT: ComparedValue = { known: false, field: 'variables' };
const PREFIX = 'variables.';

export function comparedValue({ variables, hiddenVariables }: AdmissionRequest, name: string): ComparedValue {
  if (variables === undefined) return NOT_SENT;
  if (hiddenVariables?.includes(name)) return { known: false, field: fieldOfVariable(name) };
  const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
  return value === undefined || value === '' ? UNSET : { known: true, value };
}

export const fieldOfVariable = (name: string): string => `${PREFIX}${name}`;

export const variableOfField = (field: string): string | undefined =>
  field.startsWith(PREFIX) ? field.slice(PREFIX.length) : undefined;
