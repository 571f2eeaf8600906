package hub

import "container/list"

const (
	blockSize = 64 << 10 // what the smallest read brings
	maxFetch  = 1 << 20  // what one request brings at most
	maxBlocks = 256      // kept of one file: 16 MiB
)

// blockCache keeps the blocks that were used last. It is not for several
// goroutines at once.
type blockCache struct {
	order *list.List // of *block, the newest first
	byID  map[int64]*list.Element
}

type block struct {
	id   int64
	data []byte
}

func newBlockCache() *blockCache {
	return &blockCache{order: list.New(), byID: map[int64]*list.Element{}}
}

func (c *blockCache) has(id int64) bool {
	_, ok := c.byID[id]
	return ok
}

func (c *blockCache) get(id int64) ([]byte, bool) {
	e, ok := c.byID[id]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*block).data, true
}

func (c *blockCache) put(id int64, data []byte) {
	if c.has(id) {
		return
	}
	c.byID[id] = c.order.PushFront(&block{id, data})
	if c.order.Len() > maxBlocks {
		oldest := c.order.Back()
		c.order.Remove(oldest)
		delete(c.byID, oldest.Value.(*block).id)
	}
}
