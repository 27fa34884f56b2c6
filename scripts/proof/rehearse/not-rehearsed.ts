/** What an emulator cannot show, whatever it answers. It is printed with every rehearsal. */
export const NOT_REHEARSED: readonly string[] = [
  'change sets: the emulator confuses those of two stacks, so stacks are made directly (--method=direct)',
  'rights: the emulator checks no policy; that they are few and enough is tested on the templates',
  'functions in Lambda: they run here instead, with the deployed code and environment, called by hand',
  'Function URLs and their signatures: no request goes through one',
  'streams to functions: their events are handed over by hand; retries and dead letters are not exercised',
  'schedules and events of changed parameters: no rule fires, so what waits for one is called by hand',
  'the console behind its sign-in: there is no browser and no GitLab but its address; a test signs in with both',
  'the relay in Fargate: its bundle runs here with the environment of its task; no container starts, no image is pulled',
  'alarms and the dashboard: nothing is measured',
  'encryption, point-in-time recovery and the keys behind them: they are only written down',
];
