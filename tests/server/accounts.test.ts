import t from 'tap';
import { smtpMailer } from '../../server/mail/mailer.ts';
import { digestOf } from '../../server/session-token.ts';
import { startMailServer, until } from '../worker/support.ts';
import { Client } from './support/client.ts';
import { APP_URL, openLetterbox, tokenOf } from './support/letters.ts';
import { connect } from './support/socket.ts';
import { PASSWORD, Person, signIn, startServer, startStage } from './support/stage.ts';

const NEW_PASSWORD = 'a lamp beside the harbour';

const NO_STORE = 'no-store';

t.test('accounts', async (t) => {
  const letters = await openLetterbox(t);
  const stage = await startStage(t, { mailer: letters.mailer, appUrl: APP_URL });
  const { database, owner, member, guest, stranger, anonymous, workspaceId, squadId } = stage;
  const sql = async (text: string, values: unknown[] = []) =>
    (await database.admin.query(text, values)).rows;
  const login = (email: string, password = PASSWORD) =>
    anonymous.post('/api/login', { email, password });

  t.test(
    'an invitation is mailed, looked up, and makes an account that is signed in',
    async (t) => {
      const sent = await owner.post('/api/invitations', {
        email: 'Nora@example.org',
        workspaceId,
        squadId,
        squadRole: 'guest',
      });
      t.equal(sent.status, 201);
      t.match(sent.body, {
        link: null,
        invitation: { email: 'Nora@example.org', workspaceId, role: 'member', squadRole: 'guest' },
      });
      t.equal(sent.headers.get('cache-control'), NO_STORE);
      const letter = await letters.next('Nora@example.org');
      t.match(letter.subject, /^Olga Owner invited you to “Harbour”$/);
      t.equal(letter.headers.get('auto-submitted'), 'auto-generated');
      const token = tokenOf(letter, 'join');
      t.notOk(sent.text.includes(token), 'whoever invites does not get the token');
      t.same(await sql('select token_digest from identity.invitations'), [
        { token_digest: digestOf(token) },
      ]);

      const listed = await owner.get(`/api/invitations?workspaceId=${workspaceId}`);
      t.match(listed.body, { items: [{ email: 'Nora@example.org', invitedBy: 'Olga Owner' }] });
      t.notMatch(listed.text, /digest/i);
      const found = await anonymous.post('/api/invitations/look-up', { token });
      t.match(found.body, {
        invitation: { email: 'Nora@example.org', workspaceName: 'Harbour', hasAccount: false },
      });

      const weak = await anonymous.post('/api/accounts', { token, name: 'Nora', password: 'nora' });
      t.match(weak.body, { error: 'weak_password' });
      const answer = await anonymous.post('/api/accounts', {
        token,
        name: 'Nora New',
        password: NEW_PASSWORD,
      });
      t.equal(answer.status, 201);
      t.equal(answer.headers.get('cache-control'), NO_STORE);
      t.match(answer.headers.get('set-cookie'), /^sessionToken=/);
      t.match(answer.body, {
        user: { name: 'Nora New', email: 'Nora@example.org', isAdmin: false },
      });
      const nora = new Person(stage.address, answer.pick('token'), answer.pick('user'));
      t.match((await nora.get('/api/workspaces')).body, { items: [{ id: workspaceId }] });
      const again = await anonymous.post('/api/accounts', {
        token,
        name: 'Nora',
        password: NEW_PASSWORD,
      });
      t.equal(again.status, 404);
      t.equal(again.pick('error'), 'invitation_gone');
      t.equal((await login('NORA@example.org', NEW_PASSWORD)).status, 200);
    },
  );

  t.test('who has an account accepts, and the sender learns nothing of it', async (t) => {
    const to = (email: string) =>
      stranger.post('/api/invitations', {
        email,
        workspaceId: stage.foreign.workspaceId,
      });
    const [known, unknown] = [await to(guest.email), await to('nobody@example.org')];
    const shape = (text: string) => text.replace(/"(id|email|createdAt|expiresAt)":[^,}]+/g, '');
    t.equal(shape(known.text), shape(unknown.text));
    const token = tokenOf(await letters.next(guest.email), 'join');
    t.equal((await anonymous.post('/api/invitations/accept', { token })).status, 401);
    const other = await member.post('/api/invitations/accept', { token });
    t.match([other.status, other.body], [403, { error: 'other_address' }]);
    const joined = await guest.post('/api/invitations/accept', { token });
    t.match(joined.body, { success: true, workspaceId: stage.foreign.workspaceId, squadId: null });
    const revoke = `/api/invitations/${unknown.pick<number>('invitation.id')}`;
    t.equal((await owner.delete(revoke)).status, 404, 'not theirs to see');
    t.equal((await stranger.delete(revoke)).status, 200);
    const gone = tokenOf(await letters.next('nobody@example.org'), 'join');
    t.equal((await anonymous.post('/api/invitations/look-up', { token: gone })).status, 404);
  });

  t.test('a forgotten password: one answer, one link, every session ended', async (t) => {
    const forgot = (email: string) => anonymous.post('/api/forgot-password', { email });
    const [known, unknown] = [await forgot('MATS@example.org'), await forgot('no@example.org')];
    t.match([known.status, known.body], [202, { success: true }]);
    t.match([unknown.status, unknown.text], [known.status, known.text]);
    const token = tokenOf(await letters.next(member.email), 'reset-password');
    const { socket } = await connect(stage.address, member.token);
    const set = (password: string) => anonymous.post('/api/reset-password', { token, password });
    t.match((await set('mats1234')).body, { error: 'weak_password' }, 'and the link stays good');
    t.equal((await set(NEW_PASSWORD)).status, 200);
    t.match(await socket.ended(), { code: 4004 });
    t.equal((await member.get('/api/me')).status, 401);
    t.match((await letters.next(member.email)).subject, /password was changed/);
    t.match([(await set(NEW_PASSWORD)).status], [404], 'once');
    t.equal((await login(member.email)).status, 401);
    t.equal((await login(member.email, NEW_PASSWORD)).status, 200);
    t.notOk(letters.mails.some((mail) => JSON.stringify(mail.to).includes('no@example.org')));
  });

  t.test('a change of the password answers the session that replaces all', async (t) => {
    const one = await signIn(stage.address, owner.email);
    const two = await signIn(stage.address, owner.email);
    const { socket } = await connect(stage.address, two.token);
    const change = (currentPassword: string, password = NEW_PASSWORD) =>
      one.put('/api/account/password', { currentPassword, password });
    t.match([(await change('wrong')).status], [401]);
    t.equal((await one.get('/api/me')).status, 200, 'a wrong password ends nothing');
    t.match((await change(PASSWORD, 'short')).body, { error: 'weak_password' });
    const changed = await change(PASSWORD);
    t.equal(changed.status, 200);
    t.equal(changed.headers.get('cache-control'), NO_STORE);
    t.match(changed.headers.get('set-cookie'), new RegExp(`=${changed.pick<string>('token')};`));
    t.match(await socket.ended(), { code: 4004 });
    for (const old of [one, two, owner]) t.equal((await old.get('/api/me')).status, 401);
    const replaced = new Client(stage.address, changed.pick('token'));
    t.match((await replaced.get('/api/sessions')).body, { items: [{ isCurrent: true }] });
    t.match((await letters.next(owner.email)).text, /Every other device was signed out/);
    t.equal((await one.post('/api/logout')).status, 200, 'a sign-out with the old token');
    t.equal((await replaced.get('/api/me')).status, 401, 'reaches the replacement');
  });

  t.test('a change of address: with the password, and the old one is told', async (t) => {
    const caller = await signIn(stage.address, stranger.email);
    const change = (email: string, currentPassword?: string) =>
      caller.put('/api/account/email', { email, currentPassword });
    t.match((await change(stranger.email)).body, { isChanged: false }, 'the same is no change');
    t.match((await change('s@example.org')).body, { error: 'password_needed' });
    t.match((await change(guest.email, 'wrong')).body, { error: 'wrong_credentials' });
    t.match((await change(guest.email, PASSWORD)).body, { error: 'email_taken' });
    t.equal((await caller.get('/api/me')).status, 200);
    const changed = await change('s@example.org', PASSWORD);
    t.match(changed.body, { token: String, user: { email: 's@example.org' } });
    t.equal((await caller.get('/api/me')).status, 401);
    const notice = await letters.next(stranger.email);
    t.match(notice.text, /It is s@example\.org now/);
    t.match(
      [(await login(stranger.email)).status, (await login('s@example.org')).status],
      [401, 200],
    );
  });

  t.test('without a password it is a code in a letter to the present address', async (t) => {
    const caller = await signIn(stage.address, guest.email);
    await sql('delete from identity.passwords where user_id = $1', [guest.id]);
    const password = await caller.put('/api/account/password', {
      currentPassword: PASSWORD,
      password: NEW_PASSWORD,
    });
    t.match([password.status, password.body], [409, { error: 'no_password' }]);
    const asked = await caller.put('/api/account/email', { email: 'g@example.org' });
    const confirmToken = asked.pick<string>('confirmToken');
    t.equal(asked.headers.get('cache-control'), NO_STORE);
    const code = /Your code is (\d{8})/.exec((await letters.next(guest.email)).subject ?? '')?.[1];
    const confirm = (typed: string, token = confirmToken) =>
      caller.post('/api/account/email/confirm', { confirmToken: token, code: typed });
    t.match((await confirm('00000000')).body, { error: 'wrong_code' });
    t.match((await confirm(code ?? '', 'another')).body, { error: 'wrong_code' });
    const confirmed = await confirm(`${code?.slice(0, 4)} ${code?.slice(4)}`);
    t.match(confirmed.body, { token: String, user: { email: 'g@example.org' } });
    t.match((await letters.next(guest.email)).subject, /address of your account was changed/);
    t.equal((await caller.get('/api/me')).status, 401);
  });

  t.test('sign-up, closed and open', async (t) => {
    const ask = (email: string) => anonymous.post('/api/sign-up', { email });
    t.match([(await ask('zoe@example.org')).body], [{ error: 'sign_up_closed' }]);
    await sql("update bellwire.settings set value = 1 where name = 'open_sign_up'");
    const [fresh, taken] = [await ask('zoe@example.org'), await ask('s@example.org')];
    t.match([fresh.status, fresh.text], [202, taken.text]);
    const token = tokenOf(await letters.next('zoe@example.org'), 'join');
    t.match((await letters.next('s@example.org')).subject, /have an account already/);
    const made = await anonymous.post('/api/accounts', {
      token,
      name: 'Zoe',
      password: NEW_PASSWORD,
    });
    t.match(made.body, { user: { email: 'zoe@example.org' } });
    await sql("update bellwire.settings set value = 0 where name = 'open_sign_up'");
  });

  t.test(
    'where no mail is sent, a link is handed over, and what needs a letter says so',
    async (t) => {
      const { address } = await startServer(t, database);
      const login = await new Client(address).post('/api/login', {
        email: 's@example.org',
        password: PASSWORD,
      });
      const caller = new Client(address, login.pick('token'));
      const sent = await caller.post('/api/invitations', {
        email: 'new@example.org',
        workspaceId: stage.foreign.workspaceId,
      });
      const unanswered = await startServer(t, database, {
        smtpUrl: 'smtp://127.0.0.1:1',
        mailFrom: 'Bellwire <bell@acme.example>',
      });
      await unanswered.app.mail.decide();
      const alike = await new Client(unanswered.address, caller.token).post('/api/invitations', {
        email: 'other@example.org',
        workspaceId: stage.foreign.workspaceId,
      });
      t.match(alike.body, { link: String }, 'nor where the mail server does not answer');
      const token = sent.pick<string>('link').replace(`${APP_URL}/join#`, '');
      const found = await caller.post('/api/invitations/look-up', { token });
      t.match(found.body, { invitation: { email: 'new@example.org' } });
      const forgot = await caller.post('/api/forgot-password', { email: member.email });
      t.match([forgot.status, forgot.body], [503, { error: 'mail_off' }]);
      await sql("update bellwire.settings set value = 1 where name = 'open_sign_up'");
      const signUp = await caller.post('/api/sign-up', { email: 'b@example.org' });
      t.match([signUp.status, signUp.body], [503, { error: 'mail_off' }]);
      await sql('delete from identity.passwords where user_id = $1', [stranger.id]);
      const change = await caller.put('/api/account/email', { email: 'c@example.org' });
      t.match([change.status, change.body], [503, { error: 'mail_off' }]);
    },
  );

  t.test('what the mail server does shows in the log and not in the answer', async (t) => {
    let letGo = () => {};
    const answered = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const { url } = await startMailServer(t, {
      onRcptTo: async (_address, _session, callback) => {
        await answered;
        callback(Object.assign(new Error(`no ${member.email} here`), { responseCode: 550 }));
      },
    });
    const lines: string[] = [];
    const { app, address } = await startServer(t, database, {
      mailer: smtpMailer(url, 'Bellwire <bell@acme.example>'),
    });
    app.log.warn = ((fields: object, text: string) => {
      lines.push(JSON.stringify({ ...fields, text }));
    }) as typeof app.log.warn;
    await sql("update identity.password_resets set created_at = 'yesterday'");
    const forgot = await new Client(address).post('/api/forgot-password', { email: member.email });
    t.equal(forgot.status, 202, 'before the mail server has said a word about it');
    letGo();
    await until('it is logged', () => lines.length > 0);
    t.same(lines, [
      '{"letter":"password-reset","result":"permanent","code":"550","text":"letter not sent"}',
    ]);
  });

  t.test('leaving, and being let back in', async (t) => {
    const answer = await login(member.email, NEW_PASSWORD);
    const caller = new Client(stage.address, answer.pick('token'));
    const { socket } = await connect(stage.address, caller.token);
    const leave = (currentPassword?: string) =>
      caller.post('/api/account/deactivate', { currentPassword });
    t.equal((await leave()).status, 400);
    t.equal((await leave('wrong')).status, 401);
    t.equal((await leave(NEW_PASSWORD)).status, 200);
    t.match(await socket.ended(), { code: 4004 });
    t.equal((await caller.get('/api/me')).status, 401);
    t.equal((await login(member.email, NEW_PASSWORD)).status, 401);
    const [zoe] = await sql(
      "update bellwire.users set is_admin = true where name = 'Zoe' returning email",
    );
    const zoes = await login(zoe.email, NEW_PASSWORD);
    const admin = new Client(stage.address, zoes.pick('token'));
    const path = `/api/users/${member.id}`;
    t.equal((await admin.post(`${path}/reactivate`)).status, 200);
    t.equal((await caller.get('/api/me')).status, 401, 'sessions do not come back');
    const back = await login(member.email, NEW_PASSWORD);
    t.equal(back.status, 200);
    const backAgain = new Client(stage.address, back.pick('token'));
    t.equal((await backAgain.post(`${path}/deactivate`)).status, 403, 'no administrator');
    t.equal((await admin.post(`${path}/deactivate`)).status, 200);
    t.equal((await backAgain.get('/api/me')).status, 401);
    const last = await admin.post('/api/account/deactivate', { currentPassword: NEW_PASSWORD });
    t.match([last.status, last.body], [400, { error: 'last_admin' }]);
    t.equal((await admin.put('/api/account/name', { name: 'Zoë' })).status, 200);
    t.match((await admin.get('/api/me')).body, { user: { name: 'Zoë' } });
  });
});
