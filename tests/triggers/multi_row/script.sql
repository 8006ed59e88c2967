CREATE TABLE t(data vutf8)$$
CREATE TABLE seen(tid longlong, epoch longlong, data vutf8)$$
CREATE PROCEDURE see {
local function main(e)
    return db:table('seen'):insert({tid = db:get_event_tid(e), epoch = db:get_event_epoch(e), data = e.new.data})
end
}$$
CREATE LUA TRIGGER see ON (TABLE t FOR INSERT)
insert into t(data) values('first')
insert into t(data) values('second'),('third')
begin
insert into t(data) values('fourth')
insert into t(data) values('fifth')
commit
begin
insert into t(data) values('never')
rollback
insert into t(data) select printf('row %d', value) from generate_series(6, 8)
