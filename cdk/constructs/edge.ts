import { CfnOutput } from 'aws-cdk-lib';
import * as api from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { InterfaceVpcEndpoint } from 'aws-cdk-lib/aws-ec2';
import { AnyPrincipal, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type Alias, FunctionUrlAuthType, type IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Settings } from '../settings/deployment.ts';
import { functionName, LIVE } from './names.ts';

type Edge = NonNullable<Settings['edge']>;

/**
 * A public program's address, which ends with "/": the Function URL, or an API on a domain of the settings. The API's own address is closed,
 * and its policy lets in only who the settings name.
 */
export function addressOf(
  scope: Construct,
  program: { readonly name: 'settle' | 'console'; readonly alias: Alias; readonly domain: string },
  { stage, edge, traces }: Settings,
): string {
  const { name, alias, domain } = program;
  if (edge === undefined) return alias.addFunctionUrl({ authType: FunctionUrlAuthType.NONE }).url;
  const place = new Construct(scope, 'Edge');
  const { vpcEndpointId } = edge;
  const restApi = new api.RestApi(place, 'Api', {
    restApiName: functionName(stage, name),
    endpointConfiguration:
      vpcEndpointId === undefined
        ? { types: [api.EndpointType.REGIONAL] }
        : { types: [api.EndpointType.PRIVATE], vpcEndpoints: [endpointOf(place, vpcEndpointId)] },
    disableExecuteApiEndpoint: true,
    policy: callersOf(edge),
    // Pages are compressed, and signatures are of bytes.
    binaryMediaTypes: ['*/*'],
    cloudWatchRole: false,
    deployOptions: { stageName: LIVE, tracingEnabled: traces },
  });
  // The library's own class does not fit its interface under exact optional properties.
  const defaultIntegration = new api.LambdaIntegration(alias as IFunction, { allowTestInvoke: false });
  restApi.root.addMethod('ANY', defaultIntegration);
  restApi.root.addProxy({ defaultIntegration });
  // The library's output names the closed address.
  restApi.node.tryRemoveChild('Endpoint');
  const target =
    vpcEndpointId === undefined
      ? publicDomain(place, domain, restApi, edge)
      : privateDomain(place, domain, restApi, edge);
  new CfnOutput(place, 'DomainTarget', {
    value: target,
    description: `Point ${domain} here, by CNAME or alias`,
  });
  return `https://${domain}/`;
}

const endpointOf = (scope: Construct, vpcEndpointId: string) =>
  InterfaceVpcEndpoint.fromInterfaceVpcEndpointAttributes(scope, 'Endpoint', { vpcEndpointId, port: 443 });

/** Nothing but this lets a call in: a method has no authorization, because the programs check signatures and sign-ins. */
const callersOf = ({ allowFrom, vpcEndpointId }: Edge): PolicyDocument =>
  new PolicyDocument({
    statements: [
      new PolicyStatement({
        principals: [new AnyPrincipal()],
        actions: ['execute-api:Invoke'],
        resources: ['execute-api:/*'],
        conditions: {
          ...(vpcEndpointId !== undefined && { StringEquals: { 'aws:SourceVpce': vpcEndpointId } }),
          ...(allowFrom !== undefined && {
            IpAddress: { [vpcEndpointId === undefined ? 'aws:SourceIp' : 'aws:VpcSourceIp']: allowFrom },
          }),
        },
      }),
    ],
  });

function publicDomain(
  scope: Construct,
  domainName: string,
  restApi: api.RestApi,
  { certificateArn }: Edge,
): string {
  const domain = restApi.addDomainName('Domain', {
    ...{ domainName, certificate: Certificate.fromCertificateArn(scope, 'Certificate', certificateArn) },
    ...{ endpointType: api.EndpointType.REGIONAL, securityPolicy: api.SecurityPolicy.TLS_1_2 },
  });
  return domain.domainNameAliasDomainName;
}

/** The library has no class for domains of private APIs. The way to it is the endpoint, whose names the VPC knows. */
function privateDomain(scope: Construct, domainName: string, restApi: api.RestApi, edge: Edge): string {
  const { certificateArn, vpcEndpointId = '' } = edge;
  const { attrDomainNameArn: domainNameArn } = new api.CfnDomainNameV2(scope, 'Domain', {
    ...{ domainName, certificateArn, securityPolicy: 'TLS_1_2' },
    ...{ endpointConfiguration: { types: ['PRIVATE'] }, policy: callersOf(edge) },
  });
  new api.CfnBasePathMappingV2(scope, 'Mapping', {
    ...{ domainNameArn, restApiId: restApi.restApiId, stage: restApi.deploymentStage.stageName },
  });
  new api.CfnDomainNameAccessAssociation(scope, 'Access', {
    ...{ domainNameArn, accessAssociationSource: vpcEndpointId, accessAssociationSourceType: 'VPCE' },
  });
  return vpcEndpointId;
}
