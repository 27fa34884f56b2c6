import { Fn, Stack } from 'aws-cdk-lib';
import {
  CfnInternetGateway,
  CfnRoute,
  CfnRouteTable,
  CfnSubnet,
  CfnSubnetRouteTableAssociation,
  CfnVPC,
  CfnVPCEndpoint,
  CfnVPCGatewayAttachment,
  type ISubnet,
  type IVpc,
  Subnet,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { ExistingVpcSettings, VpcSettings } from '../settings/deployment.ts';

/**
 * Network of the relays: two public subnets of its own, or an existing one. Public, because a NAT gateway
 * costs more than the rest of Tollgate. No inbound traffic is allowed.
 */
export class RelayNetwork extends Construct {
  readonly vpc: IVpc;
  readonly subnets: readonly ISubnet[];
  /** True if a task needs a public address to reach the internet. */
  readonly assignPublicIp: boolean;

  constructor(scope: Construct, id: string, settings: VpcSettings) {
    super(scope, id);
    const { vpc, subnets } =
      settings.kind === 'new' ? new PublicVpc(this, 'Vpc', settings) : this.#find(settings);
    this.vpc = vpc;
    this.subnets = subnets;
    this.assignPublicIp = settings.kind === 'new' || settings.assignPublicIp;
  }

  #find({ id: vpcId, availabilityZones, subnetIds }: ExistingVpcSettings): {
    readonly vpc: IVpc;
    readonly subnets: readonly ISubnet[];
  } {
    const vpc = Vpc.fromVpcAttributes(this, 'Vpc', { vpcId, availabilityZones: [...availabilityZones] });
    const subnets = subnetIds.map((subnetId, index) =>
      Subnet.fromSubnetAttributes(this, `Subnet${index + 1}`, {
        subnetId,
        availabilityZone: availabilityZones[index] ?? '',
      }),
    );
    return { vpc, subnets };
  }
}

/** The router's streams survive the loss of one zone. */
const ZONES = 2;
/** Host bits of a subnet, a /28: 16 addresses, some for the extra tasks of a deployment. */
const SUBNET_BITS = 4;

/**
 * Two public subnets in two zones, a way out and none in but to what opens itself; DynamoDB inside AWS, where the endpoint is
 * free. Made of single resources: the library's `Vpc` asks the account for its zones as soon as the stack names one.
 */
class PublicVpc extends Construct {
  readonly vpc: IVpc;
  readonly subnets: readonly ISubnet[];

  constructor(scope: Construct, id: string, { cidr }: { readonly cidr: string }) {
    super(scope, id);
    const name = { key: 'Name', value: this.node.path };
    const network = new CfnVPC(this, 'Resource', {
      cidrBlock: cidr,
      enableDnsHostnames: true,
      enableDnsSupport: true,
      tags: [name],
    });
    const vpcId = network.ref;
    const routes = this.#routesOut(vpcId);
    const availabilityZones = Array.from({ length: ZONES }, (_, index) =>
      // CloudFormation resolves the region's zones at deployment.
      Fn.select(index, Fn.getAzs(Stack.of(this).region)),
    );
    const subnetIds = availabilityZones.map((availabilityZone, index) => {
      const subnet = new CfnSubnet(this, `Subnet${index + 1}`, {
        vpcId,
        availabilityZone,
        cidrBlock: Fn.select(index, Fn.cidr(cidr, ZONES, String(SUBNET_BITS))),
        tags: [name],
      });
      new CfnSubnetRouteTableAssociation(this, `Subnet${index + 1}Routes`, {
        subnetId: subnet.ref,
        routeTableId: routes.ref,
      });
      return subnet.ref;
    });
    new CfnVPCEndpoint(this, 'DynamoDb', {
      vpcId,
      vpcEndpointType: 'Gateway',
      serviceName: `com.amazonaws.${Stack.of(this).region}.dynamodb`,
      routeTableIds: [routes.ref],
    });
    this.vpc = Vpc.fromVpcAttributes(this, 'Found', { vpcId, availabilityZones });
    this.subnets = subnetIds.map((subnetId, index) =>
      Subnet.fromSubnetAttributes(this, `FoundSubnet${index + 1}`, {
        subnetId,
        availabilityZone: availabilityZones[index] ?? '',
        routeTableId: routes.ref,
      }),
    );
  }

  #routesOut(vpcId: string): CfnRouteTable {
    const gateway = new CfnInternetGateway(this, 'Gateway');
    const attached = new CfnVPCGatewayAttachment(this, 'Attached', { vpcId, internetGatewayId: gateway.ref });
    const routes = new CfnRouteTable(this, 'Routes', { vpcId });
    const out = new CfnRoute(this, 'Out', {
      routeTableId: routes.ref,
      destinationCidrBlock: '0.0.0.0/0',
      gatewayId: gateway.ref,
    });
    out.addDependency(attached);
    return routes;
  }
}
