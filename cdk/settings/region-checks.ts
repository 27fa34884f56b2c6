/** Settings that do not fit the region, told before anything is deployed there. */

/**
 * Regions without Lambda Function URLs, which webhooks and the console need.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/urls-configuration.html, read on 2026-11-22
 */
const NO_FUNCTION_URLS =
  /^(?:ap-south-2|ap-southeast-[45]|ca-west-1|eu-central-2|eu-south-2|il-central-1|me-central-1)$/;

interface Checked {
  readonly alarms: { readonly topicArns: readonly string[] };
  readonly parameters: { readonly keyArn?: string | undefined };
  readonly state: { readonly tableKeyArn?: string | undefined };
  readonly vpc: { readonly kind?: string; readonly availabilityZones?: readonly string[] | undefined };
}

/** @returns the settings that are wrong in `region`, by name, with a remedy */
export function regionMistakes({ state, parameters, alarms, vpc }: Checked, region: string) {
  const partition = /^cn-/.test(region) ? 'aws-cn' : /^us-gov-/.test(region) ? 'aws-us-gov' : 'aws';
  const arns: readonly (readonly [setting: string, kind: string, arn: string | undefined])[] = [
    ['state.tableKeyArn', 'a table is encrypted by a key', state.tableKeyArn],
    ['parameters.keyArn', 'parameters are encrypted by a key', parameters.keyArn],
    ...alarms.topicArns.map((arn) => ['alarms.topicArns', 'alarms go to topics', arn] as const),
  ];
  const zones = vpc.availabilityZones ?? [];
  return [
    NO_FUNCTION_URLS.test(region) &&
      ([
        'region',
        `Lambda has no Function URLs in ${region}, so GitLab would have no address for its webhooks; choose another region`,
      ] as const),
    ...arns.map(([setting, kind, arn]) => {
      const [, arnPartition, , arnRegion] = arn?.split(':') ?? [];
      const isHere = arn === undefined || (arnPartition === partition && arnRegion === region);
      return (
        !isHere &&
        ([
          setting,
          `${arn} is not in ${region} (${partition}), and ${kind} of their own region; name one there`,
        ] as const)
      );
    }),
    zones.some((zone) => !zone.startsWith(region)) &&
      ([
        'vpc.availabilityZones',
        `${zones.join(', ')} are not all in ${region}; name subnets and zones of that region`,
      ] as const),
  ].filter((mistake) => mistake !== false);
}
