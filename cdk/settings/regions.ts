/**
 * Regions without Lambda Function URLs, which GitLab's webhooks and the console need.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html, read on 2026-11-22
 */
const WITHOUT_FUNCTION_URLS: ReadonlySet<string> = new Set([
  'ap-south-2',
  'ap-southeast-4',
  'ap-southeast-5',
  'ca-west-1',
  'eu-central-2',
  'eu-south-2',
  'il-central-1',
  'me-central-1',
]);

export const hasFunctionUrls = (region: string): boolean => !WITHOUT_FUNCTION_URLS.has(region);

export const NO_FUNCTION_URLS =
  'Lambda has no Function URLs there, so that GitLab would have no address for its webhooks; choose another region';
