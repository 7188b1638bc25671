/**
 * A wing of the product: what it adds to the service, to the API group and to the commands. The service declares here what it asks of wings; `src/wings.ts` lists them.
 * Whoever deletes the folder of a wing and its line in that list has a smaller product that works.
 */
import type { Command, CommandEntry } from '../command-line/command.ts';
import type { ServedCertificate } from '../doctor/finding.ts';
import type { AddDashboard } from '../operations/app.ts';
import type { WingKinds } from '../resources/kinds.ts';
import type { ResourceGroup } from '../resources/resource-group.ts';
import type { Foundation, Part } from './foundation.ts';
import type { OpenWorkWing } from './work-wing.ts';

export interface Wing {
  /** The name of its folder. */
  readonly id: string;
  /** Its commands, in the order of the overview. Each is loaded when it is used. */
  readonly commands?: readonly WingCommand[];
  /** What it adds to the API group; loaded where manifests or definitions are read. */
  readonly kinds?: () => Promise<WingKinds>;
  /** What it runs in the service; loaded by `serve`. */
  readonly service?: () => Promise<ServiceWing>;
}

/** A command of a wing. */
export interface WingCommand extends Pick<CommandEntry, 'name' | 'summary'> {
  /** `readGroup` loads what all wings add to the API group. */
  readonly load: (readGroup: () => Promise<ResourceGroup>) => Promise<Command>;
}

/** What a wing runs in a process of the service, by its roles. */
export interface ServiceWing {
  readonly work?: OpenWorkWing;
  /** The role `convert`. Rejects with ConfigError if it cannot run with these settings. */
  readonly convert?: (foundation: Foundation) => Promise<ConvertPart>;
  /** The role `web`: pages on the listener for the cluster. `hasApi`: whether the process has the API that they show. Throws ConfigError. */
  readonly web?: (foundation: Foundation, hasApi: boolean) => AddDashboard;
  /** What the conversion webhook presents. `own`: its address in this process, if it has one. */
  readonly readConversionCertificate?: (foundation: Foundation, own: string | undefined) => Promise<ServedCertificate>;
}

/** The role `convert`, and the address of its listener once it is open. */
export type ConvertPart = Part & { address(): string | undefined };
