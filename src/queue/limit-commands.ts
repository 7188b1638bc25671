import type { Command, Redis } from 'ioredis';

/** The words of ioredis for the same. */
export const tooLate = 'Command timed out';

/**
 * Rejects every command that has no answer after so many milliseconds, `tooLate`. It does what `commandTimeout` of ioredis does, and one thing more: after a
 * process was held up, its timers come before what has arrived meanwhile, and an answer that is here must not count as missing.
 */
export function limitCommands(connection: Redis, milliseconds: number): void {
  const send = connection.sendCommand.bind(connection);
  // Commands come again after a lost connection, or on their way through a Cluster.
  const limited = new WeakSet<Command>();
  connection.sendCommand = (command, stream) => {
    if (!limited.has(command)) {
      limited.add(command);
      limit(command, milliseconds);
    }
    return send(command, stream);
  };
}

function limit(command: Command, milliseconds: number): void {
  const giveUp = () => command.reject(new Error(tooLate));
  const timer = setTimeout(() => setImmediate(giveUp), milliseconds);
  const stop = () => clearTimeout(timer);
  command.promise.then(stop, stop);
}
