import { Annotations, Fn, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { Settings } from '../settings/deployment.ts';

/** Network of the relays, without inbound traffic. A new one is public, because a NAT gateway costs more than the rest of Tollgate. */
export class RelayNetwork extends Construct {
  readonly vpc: ec2.IVpc;
  readonly subnets: readonly ec2.ISubnet[];
  readonly assignPublicIp: boolean;

  constructor(scope: Construct, id: string, settings: Settings['vpc']) {
    super(scope, id);
    const isNew = settings.kind === 'new';
    const found = isNew ? publicVpc(new Construct(this, 'Vpc'), settings.cidr) : settings;
    const { id: vpcId, availabilityZones, subnetIds, ...routes } = found;
    const zones = [...availabilityZones];
    this.vpc = ec2.Vpc.fromVpcAttributes(this, 'Found', { vpcId, availabilityZones: zones });
    // Nothing here asks for the route table of a subnet that exists.
    Annotations.of(this).acknowledgeWarning('@aws-cdk/aws-ec2:noSubnetRouteTableId');
    this.subnets = subnetIds.map((subnetId, index) =>
      ec2.Subnet.fromSubnetAttributes(this, `Subnet${index + 1}`, {
        ...{ subnetId, availabilityZone: zones[index] ?? '' },
        ...('routeTableId' in routes && { routeTableId: routes.routeTableId }),
      }),
    );
    this.assignPublicIp = isNew || settings.assignPublicIp;
  }
}

/** The router's streams survive the loss of one zone. */
const ZONES = 2;
/** Host bits of a subnet, a /28: 16 addresses, some for the extra tasks of a deployment. */
const SUBNET_BITS = 4;

/** Makes single resources, because the library's `Vpc` asks the account for its zones as soon as the stack names one. */
function publicVpc(scope: Construct, cidr: string) {
  const { region } = Stack.of(scope);
  const tags = [{ key: 'Name', value: scope.node.path }];
  const addresses = { cidrBlock: cidr, enableDnsHostnames: true, enableDnsSupport: true };
  const vpcId = new ec2.CfnVPC(scope, 'Resource', { ...addresses, tags }).ref;
  const gatewayId = new ec2.CfnInternetGateway(scope, 'Gateway').ref;
  const attachment = { vpcId, internetGatewayId: gatewayId };
  const attached = new ec2.CfnVPCGatewayAttachment(scope, 'Attached', attachment);
  const routeTableId = new ec2.CfnRouteTable(scope, 'Routes', { vpcId }).ref;
  const out = new ec2.CfnRoute(scope, 'Out', { routeTableId, destinationCidrBlock: '0.0.0.0/0', gatewayId });
  out.addResourceDependency(attached);
  // CloudFormation resolves the region's zones at deployment.
  const availabilityZones = Array.from({ length: ZONES }, (_, index) => Fn.select(index, Fn.getAzs(region)));
  const subnetIds = availabilityZones.map((availabilityZone, index) => {
    const cidrBlock = Fn.select(index, Fn.cidr(cidr, ZONES, String(SUBNET_BITS)));
    const subnet = { vpcId, availabilityZone, cidrBlock, tags };
    const subnetId = new ec2.CfnSubnet(scope, `Subnet${index + 1}`, subnet).ref;
    new ec2.CfnSubnetRouteTableAssociation(scope, `Subnet${index + 1}Routes`, { subnetId, routeTableId });
    return subnetId;
  });
  new ec2.CfnVPCEndpoint(scope, 'DynamoDb', {
    vpcId,
    vpcEndpointType: 'Gateway',
    serviceName: `com.amazonaws.${region}.dynamodb`,
    routeTableIds: [routeTableId],
  });
  return { id: vpcId, availabilityZones, subnetIds, routeTableId };
}
