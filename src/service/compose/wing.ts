/**
 * A wing of the product: what it adds to the service, to the API group and to the commands. The service declares here what it requires of wings; `src/wings.ts`
 * lists them. Without the folder of a wing and its line in that list, the product is smaller and works.
 */
import type { Command, CommandEntry } from '../command-line/command.ts';
import type { Route } from '../api/route.ts';
import type { ServedCertificate } from '../doctor/finding.ts';
import type { AddDashboard } from '../operations/app.ts';
import type { WingKinds } from '../resources/kinds.ts';
import type { ResourceGroup } from '../resources/resource-group.ts';
import type { Foundation, Part } from './foundation.ts';
import type { OpenWorkWing } from './work-wing.ts';

export interface Wing {
  /** The name of the wing's folder. */
  readonly id: string;
  /** The commands of the wing, in the order of the overview. Each is loaded when it is used. */
  readonly commands?: readonly WingCommand[];
  /** The kinds that the wing adds to the API group; loaded when manifests or definitions are read. */
  readonly kinds?: () => Promise<WingKinds>;
  /** The part of the wing that runs in the service; loaded by `serve`. */
  readonly service?: () => Promise<ServiceWing>;
}

/** A command of a wing. */
export interface WingCommand extends Pick<CommandEntry, 'name' | 'summary'> {
  /** Loads the command. `readGroup` loads the API group with the kinds of all wings. */
  readonly load: (readGroup: () => Promise<ResourceGroup>) => Promise<Command>;
}

/** The parts of a wing that run in a process of the service, by its roles. */
export interface ServiceWing {
  readonly work?: OpenWorkWing;
  /** The routes that the wing adds to the API, as a process without the role `work` has them: they answer 503. With the role, those of `WingWork` are used. */
  readonly routes?: readonly Route[];
  /** Builds the role `convert`. Rejects with ConfigError if it cannot run with these settings. */
  readonly convert?: (foundation: Foundation) => Promise<ConvertPart>;
  /** Adds the role `web`: pages on the operations listener. `hasApi`: whether the process has the API that they show. Throws ConfigError. */
  readonly web?: (foundation: Foundation, hasApi: boolean) => AddDashboard;
  /** Reads the certificate that the conversion webhook presents. `own`: its address in this process, if it has one. */
  readonly readConversionCertificate?: (foundation: Foundation, own: string | undefined) => Promise<ServedCertificate>;
}

/** The role `convert`, and the address of its listener once it is open. */
export type ConvertPart = Part & { address(): string | undefined };
