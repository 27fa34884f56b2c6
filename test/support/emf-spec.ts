/**
 * A check of embedded metric format documents, written from the specification and from nothing of ours.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */

/** The older, smaller of the two bounds the specification has had. */
const DOCUMENT_BYTES_MAX = 256 * 1024;
const UNITS = new Set([
  ...['Seconds', 'Microseconds', 'Milliseconds', 'Bytes', 'Kilobytes', 'Megabytes', 'Gigabytes', 'Terabytes'],
  ...['Bits', 'Kilobits', 'Megabits', 'Gigabits', 'Terabits', 'Percent', 'Count', 'None'],
  ...['Bytes', 'Kilobytes', 'Megabytes', 'Gigabytes', 'Terabytes', 'Count'].map((unit) => `${unit}/Second`),
  ...['Bits', 'Kilobits', 'Megabits', 'Gigabits', 'Terabits'].map((unit) => `${unit}/Second`),
]);

type Json = Readonly<Record<string, unknown>>;

/** What CloudWatch would hold against this log event; empty: nothing. */
export function emfProblems(line: string): readonly string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(line) > DOCUMENT_BYTES_MAX) problems.push('larger than 256 KB');
  const root = parsed(line);
  if (!isObject(root)) return [...problems, 'the event is not one JSON object'];
  if (!isObject(root._aws)) return [...problems, 'no _aws'];
  only(root._aws, ['Timestamp', 'CloudWatchMetrics'], '_aws', problems);
  const { Timestamp: at, CloudWatchMetrics: directives } = root._aws;
  if (!Number.isSafeInteger(at) || Number(at) < 0) problems.push('Timestamp is no time in milliseconds');
  if (!Array.isArray(directives) || directives.length === 0) return [...problems, 'no CloudWatchMetrics'];
  for (const directive of directives) checkDirective(directive, root, problems);
  return problems;
}

function checkDirective(directive: unknown, root: Json, problems: string[]): void {
  if (!isObject(directive)) {
    problems.push('a directive is no object');
    return;
  }
  only(directive, ['Namespace', 'Dimensions', 'Metrics'], 'a directive', problems);
  const { Namespace: namespace, Dimensions: sets, Metrics: metrics } = directive;
  if (!isText(namespace, 1024)) problems.push('Namespace is no text of 1 to 1024');
  if (!Array.isArray(sets) || sets.length === 0) problems.push('no Dimensions');
  else for (const set of sets) checkDimensions(set, root, problems);
  if (!Array.isArray(metrics) || metrics.length === 0 || metrics.length > 100)
    problems.push('Metrics is no list of 1 to 100');
  else for (const metric of metrics) checkMetric(metric, root, problems);
}

function checkDimensions(set: unknown, root: Json, problems: string[]): void {
  if (!Array.isArray(set) || set.length > 30) {
    problems.push('a dimension set is no list of up to 30');
    return;
  }
  for (const name of set) {
    if (!isText(name, 250)) problems.push('a dimension has no name of 1 to 250');
    else if (!isText(root[name], 1024))
      problems.push(`dimension ${name} has no text of 1 to 1024 at the root`);
  }
}

function checkMetric(metric: unknown, root: Json, problems: string[]): void {
  if (!isObject(metric) || !isText(metric.Name, 1024)) {
    problems.push('a metric has no name of 1 to 1024');
    return;
  }
  only(metric, ['Name', 'Unit', 'StorageResolution'], 'a metric', problems);
  const { Name: name, Unit: unit, StorageResolution: resolution } = metric;
  if (unit !== undefined && !UNITS.has(String(unit))) problems.push(`${name}: no such unit`);
  if (resolution !== undefined && resolution !== 1 && resolution !== 60)
    problems.push(`${name}: no such resolution`);
  const target = root[String(name)];
  const values = Array.isArray(target) ? target : [target];
  if (values.length === 0 || values.length > 100) problems.push(`${name}: not 1 to 100 values`);
  if (!values.every((value) => typeof value === 'number')) problems.push(`${name}: no number at the root`);
}

function only(object: Json, members: readonly string[], what: string, problems: string[]): void {
  for (const member of Object.keys(object))
    if (!members.includes(member)) problems.push(`${what} must not have ${member}`);
}

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= max;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The metrics of a document as CloudWatch would read it. */
export function measuredOf(line: string): {
  readonly deployment: unknown;
  readonly values: Readonly<Record<string, readonly number[]>>;
} {
  const root = JSON.parse(line);
  const [{ Dimensions: sets, Metrics: metrics }] = root._aws.CloudWatchMetrics;
  return {
    deployment: root[sets[0][0]],
    values: Object.fromEntries(
      metrics.map(({ Name: name }: { readonly Name: string }) => [name, [root[name]].flat()]),
    ),
  };
}
