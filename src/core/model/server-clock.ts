/** Called with the time of each response by the clock of the API server. It is compared with times that the cluster recorded. */
export type OnAnswered = (at: Date) => void;
