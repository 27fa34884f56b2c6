/** Settings that do not fit the region, found before anything is deployed there. */
import type { z } from 'zod';
import type { SETTINGS } from './settings.ts';

/**
 * Regions without Lambda Function URLs, which webhooks and the console need.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html, read on 2026-11-22
 */
const NO_FUNCTION_URLS =
  /^(?:ap-south-2|ap-southeast-[45]|ca-west-1|eu-central-2|eu-south-2|il-central-1|me-central-1)$/;

type Checked = Pick<z.output<typeof SETTINGS>, 'admitRoute' | 'alarms' | 'edge' | 'parameters' | 'state'> & {
  readonly vpc: { readonly kind?: string; readonly availabilityZones?: readonly string[] | undefined };
};

/** @returns the settings that are wrong in `region`, by name, with a remedy */
export function regionMistakes(
  { state, parameters, alarms, vpc, edge, admitRoute }: Checked,
  region: string,
) {
  const partition = /^cn-/.test(region) ? 'aws-cn' : /^us-gov-/.test(region) ? 'aws-us-gov' : 'aws';
  const isElsewhere = (arn: string): boolean => {
    const [, arnPartition, , arnRegion] = arn.split(':');
    return arnPartition !== partition || arnRegion !== region;
  };
  const arns: readonly (readonly [setting: string, kind: string, arn: string | undefined])[] = [
    ['state.tableKeyArn', 'a table is encrypted by a key', state.tableKeyArn],
    ['parameters.keyArn', 'parameters are encrypted by a key', parameters.keyArn],
    ['edge.certificateArn', 'domains are certified by certificates', edge?.certificateArn],
    ...alarms.topicArns.map((arn) => ['alarms.topicArns', 'alarms go to topics', arn] as const),
  ];
  const mistakes: (readonly [setting: string, remedy: string])[] = [];
  if (NO_FUNCTION_URLS.test(region)) {
    const why = `Lambda has no Function URLs in ${region}`;
    if (edge === undefined) mistakes.push(['region', `${why}; set edge, or choose another region`]);
    if (admitRoute === 'url') mistakes.push(['admitRoute', `${why}; set "invoke"`]);
  }
  for (const [setting, kind, arn] of arns)
    if (arn !== undefined && isElsewhere(arn)) {
      const why = `${arn} is not in ${region} (${partition}), and ${kind} of their own region`;
      mistakes.push([setting, `${why}; name one there`]);
    }
  const zones = vpc.availabilityZones ?? [];
  if (zones.some((zone) => !zone.startsWith(region))) {
    const why = `${zones.join(', ')} are not all in ${region}`;
    mistakes.push(['vpc.availabilityZones', `${why}; name subnets and zones of that region`]);
  }
  return mistakes;
}
