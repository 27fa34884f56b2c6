import type { ServiceRequest } from '../../policies/request/request.ts';
import type { MessageObject } from './field-path.ts';
import { TEXT_LENGTH_MAX } from './text-length.ts';
import { type RawValue, readValue } from './variable-value.ts';
import type { VariablesField } from './variables.ts';

/** `$NAME` and `${NAME}`, as the runner reads them. */
const REFERENCE = /\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;
/** More references than any image name has. */
const REFERENCES_MAX = 20;

/** Fields of the request that the runner expands before its executor looks at them. */
const EXPANDED = ['image', 'dockerUser', 'kubernetesUser'] as const;

type Expandable = { -readonly [Name in (typeof EXPANDED)[number] | 'services']?: unknown };

/**
 * Puts variables into the image names and users of a request as the runner will, with the same variables: only then does
 * an allow list judge what the runner's own `allowed_images` judges. GitLab has expanded the variables among themselves.
 *
 * A masked variable, a file and one that did not come are left as written, and so is all of a text that would grow too
 * long: what is not known for certain must not look allowed. The variables themselves stay here.
 */
export function expandReferences(
  request: Expandable,
  field: VariablesField | undefined,
  question: MessageObject,
): void {
  if (field === undefined) return;
  let lookUp: LookUp | undefined;
  const expand = (text: string): string => {
    if (!text.includes('$')) return text;
    lookUp ??= plainValues(field, question);
    return expanded(text, lookUp);
  };
  for (const name of EXPANDED) {
    const text = request[name];
    if (typeof text === 'string') request[name] = expand(text);
  }
  if (Array.isArray(request.services))
    request.services = request.services.map((each: ServiceRequest) => expandedService(each, expand));
}

function expandedService(service: ServiceRequest, expand: (text: string) => string): ServiceRequest {
  const { name, dockerUser, kubernetesUser } = service;
  return {
    ...service,
    name: expand(name),
    ...(dockerUser !== undefined && { dockerUser: expand(dockerUser) }),
    ...(kubernetesUser !== undefined && { kubernetesUser: expand(kubernetesUser) }),
  };
}

/** The value a name stands for; undefined where it cannot be told. */
type LookUp = (name: string) => string | undefined;

function expanded(text: string, lookUp: LookUp): string {
  // `$$` is the runner's way to write one dollar; what it makes of it is not worth guessing.
  if (text.includes('$$') || (text.match(REFERENCE)?.length ?? 0) > REFERENCES_MAX) return text;
  const result = text.replace(
    REFERENCE,
    (whole, braced: string | undefined, bare: string | undefined) => lookUp(braced ?? bare ?? '') ?? whole,
  );
  return result.length > TEXT_LENGTH_MAX || result === '' ? text : result;
}

/** Values that the job's log may show, each decoded once and when it is asked for. Of two with one name the runner takes the last. */
function plainValues(field: VariablesField, question: MessageObject): LookUp {
  const values = new Map<string, RawValue>();
  const entries = field.list(question);
  for (const entry of Array.isArray(entries) ? (entries as readonly MessageObject[]) : []) {
    const name = field.key(entry);
    if (typeof name !== 'string') continue;
    const { masked, file, public: isPublic } = field.flags(entry);
    const hidden = masked === true || file === true || (masked === undefined && isPublic !== true);
    if (hidden) values.delete(name);
    else values.set(name, field.value(entry));
  }
  return (name) => {
    if (!values.has(name)) return undefined;
    const value = readValue(values.get(name));
    if (typeof value !== 'string') {
      values.delete(name);
      return undefined;
    }
    values.set(name, value);
    return value;
  };
}
