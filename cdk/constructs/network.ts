import { type ISubnet, type IVpc, Subnet, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { ExistingVpcSettings, VpcSettings } from '../settings/settings.ts';
import { PublicVpc } from './public-vpc.ts';

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
