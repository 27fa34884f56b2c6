import type { AdmissionRequest } from '../../../policies/request/request.ts';
import type { AllowedVariables } from '../../../relay/translate/kept-variables.ts';
import { compileTranslator } from '../../../relay/translate/translator.ts';
import { descOf, messageFrom, type Shape } from '../relay/desc-of.ts';

const CONTAINER = {
  name: 'string',
  pull_policy: ['string'],
  executor_opts: { kubernetes: { user: 'string' }, docker: { user: 'string' } },
} as const;
export const VARIABLE = {
  key: 'string',
  value: 'string',
  public: 'bool',
  file: 'bool',
  masked: 'bool',
} as const;
export const shapeWith = (variable: Shape): Shape => ({
  id: 'int64',
  variables: [variable],
  image: CONTAINER,
  services: [CONTAINER],
});
const SHAPE = shapeWith({ ...VARIABLE, raw: 'bool' });

type Flags = Readonly<Partial<Record<'public' | 'masked' | 'file' | 'raw', boolean>>>;
export type QuestionVariable = Flags & { readonly key: string; readonly value: string };
export const set = (key: string, value: string, flags: Flags = {}): QuestionVariable => ({
  ...{ key, value, public: true, ...flags },
});
export function translated(
  question: Record<string, unknown>,
  shape: Shape = SHAPE,
  variables: AllowedVariables = { names: [], prefixes: [] },
): AdmissionRequest {
  const desc = descOf(shape);
  const translate = compileTranslator(desc, { variables, trustVariables: false });
  const translation = translate(messageFrom(desc, { id: '7', ...question }));
  if (!translation.ok) throw new Error(translation.problem);
  return translation.request;
}
